// Package keystore is the certificate service: the controller keystore with its
// key and chain, the trust keystore with the certificates of nodes, and what TLS
// needs of them. Keystores are JKS files of configuration/ssl, or sealed in the
// datastore. Sealing itself is package crypt's; the RPCs and commands on top are
// in rpc and shell.
package keystore
