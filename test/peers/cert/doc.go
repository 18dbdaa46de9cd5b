// Package certpeers drives the certificate service of a real controller with
// Java's keytool and with openssl. The tests need the build tag peers.
package certpeers
