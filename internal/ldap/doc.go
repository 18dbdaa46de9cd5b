// Package ldap is what realms over LDAP (RFC 4511) share: names and filters made of
// user names without their being able to change the meaning (names.go), groups to
// roles (roles.go), the properties of sec.ini (settings.go), and a client with
// pooled connections, TLS and failover (client.go). What is looked up where is the
// business of each realm.
package ldap
