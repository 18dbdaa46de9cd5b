// Package crypt is the cryptography of kept secrets, without files and store: keys
// from the settings of the encryption service, sealing with a ring of keys, and
// finding what an earlier key sealed. Where keys come from and how they are
// replaced is package encrypt's. Passwords that are only ever compared are hashed
// instead, by package aaa.
package crypt
