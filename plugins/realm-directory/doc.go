// Command realm-directory is the plugin that serves CtlDirectoryRealm of
// etc/sec.ini: a user binds by userPrincipalName, and the groups that the user is in,
// nested ones too, are translated into roles. How the directory is reached is package
// internal/ldap; plain LDAP servers are the plugin realm-ldap.
package main
