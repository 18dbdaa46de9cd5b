// Package realm is the capability of authenticating users against an outside
// directory (LDAP, an identity service, anything). Instances are configured in
// etc/sec.ini; the host tries them in the order of securityManager.realms.
package realm
