// Command realm compares logins at the controller whose realm asks an LDAP server
// with the bare client library doing bind and search at the same server. README.md
// tells what goes which way.
package main
