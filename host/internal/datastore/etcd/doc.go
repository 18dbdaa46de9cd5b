// Package etcd is the datastore engine for several controllers on one etcd v3 cluster.
// Revisions are those of the cluster. Each controller follows the whole prefix with one
// watch and reads from memory; a read first asks the cluster for the newest commit
// (barrier.go). A cluster refuses transactions of more than --max-txn-ops operations (128
// when it is not set) and requests of more than --max-request-bytes; run it with
// --max-txn-ops=20000 and --max-request-bytes=16777216. The store compacts the cluster
// down to its newest revisions. One controller alone is better off with badger.
package etcd
