// Package shell is the table of the aaa: commands that manage identities. They
// do inside the controller what etc/idmtool does from outside; the certificate
// commands of the same scope are the keystore's.
package shell
