// Package wire names what ctl and the console server say to each other beyond
// plain SSH. A client that knows none of it, such as OpenSSH, works all the same.
package wire
