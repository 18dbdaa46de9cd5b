// Package crypt seals small secrets for keeping: device passwords, communities,
// keystores. What is sealed opens only in this home and only with the same
// associated data. Passwords that are only ever compared are hashed instead, by
// package aaa; the key material of the encryption service is package keystore's.
package crypt
