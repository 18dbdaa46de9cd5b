// Package realmpeers logs users in at a real controller whose realms ask real
// servers: OpenLDAP's slapd, Samba as an Active Directory, Keystone. It needs the
// build tag peers and the programs; one that is missing is reported loudly. What needs
// no real server is tested beside the plugins.
package realmpeers
