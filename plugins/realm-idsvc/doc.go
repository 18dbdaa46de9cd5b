// Command realm-idsvc is the plugin that serves IdSvcAuthRealm of etc/sec.ini: it
// asks an identity service for a token, by the Identity API version 3, and takes the
// roles from the answer. messages.go is the API's forms, realm.go one login,
// factory.go the properties, transport.go HTTP and TLS.
package main
