// Package channel carries OpenFlow messages: a listener, and for each switch one
// goroutine that reads and one that writes. It bounds the number of connections,
// what is queued for each and how fast each is heard. It knows framing and nothing
// else: what messages mean is decided in package discovery.
package channel
