// Package encrypt is the encryption service (feature ctl-aaa-encryption-service):
// the key of aaa-encrypt-service-config.xml, what is sealed with it, and its
// replacement. The cryptography itself is package crypt's; keystores and
// certificates are package keystore's.
//
// The settings file is the only place of the key in clear. The datastore says which
// key is the current one, and keeps earlier keys sealed with it, so that what they
// sealed opens until it is sealed anew.
package encrypt
