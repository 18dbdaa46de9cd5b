// Command realm-ldap is the plugin that serves CtlJndiLdapRealm and
// CtlJndiLdapRealmAuthNOnly of etc/sec.ini: a user binds under a DN made of a
// template, and values of the user's entry are translated into roles. How the
// directory is reached is package internal/ldap; Active Directory is the plugin
// realm-directory.
package main
