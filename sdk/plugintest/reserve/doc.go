// Package reserve gives tests that run beside each other ports, numbers and
// directories of their own: for servers that cannot choose a port themselves, for
// names of network namespaces, for homes. Who ends without a word leaves nothing
// reserved; what it left on the disk the next one removes.
package reserve
