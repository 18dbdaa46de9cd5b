// Package datastore is the one place where the controller keeps what it must
// not lose: namespaces of keys with revisions, multi-key transactions with
// compares, ordered ranges and watches that can be resumed.
//
// Engines (badger, etcd, memory) share package projection and pass one conformance
// suite in datastore/conformance. What the bytes mean is the business of the rooms above:
// identities (aaa), RESTCONF trees (restconf), features (feature).
package datastore
