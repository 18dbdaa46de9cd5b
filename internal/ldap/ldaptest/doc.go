// Package ldaptest is a small LDAP server inside a test, for realms and for those who
// write one: simple bind, subtree search with equality and presence, StartTLS, and
// the faults a client must survive. Real servers are in test/peers.
package ldaptest
