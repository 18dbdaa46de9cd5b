// Package cluster is the way between the nodes of a cluster: who they are (the identity of
// this node; the others are in package lease), a listener with mutual TLS, on which one
// node lets another make a call of a plugin that runs there only, and joining.
//
// A node has a certificate that it made itself. Its fingerprint is in the node's record in
// the store, and the others accept exactly that: who may write the store is a member.
package cluster
