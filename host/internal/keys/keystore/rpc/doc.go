// Package rpc is the YANG module aaa-cert-rpc and what its RPCs do with the
// keystores. The same for people at the console is package shell.
package rpc
