// Package memory is the datastore engine that keeps everything in memory: the
// operational tree, which the next start observes anew, and tests. What must
// survive a restart belongs in package badger.
package memory
