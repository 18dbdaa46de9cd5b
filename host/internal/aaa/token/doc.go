// Package token issues opaque bearer tokens. The store holds a digest only; what
// a token allows is looked up at each use from the user's principal, so it ends
// with the password, with disabling and with deletion, and survives a restart.
//
// The HTTP services that issue and revoke are package idm's.
package token
