// Package badger is the datastore engine for one controller: Badger v4 in a directory of
// the home, loaded into memory at start. Only Badger's public API is used.
//
// A transaction that is not Volatile is acknowledged when it is on the disk. Volatile ones
// follow within a second or with the next that is not. Each write carries a digest of all
// entries; with the newest acknowledged revision (tip.go) and the checksums of Badger's
// files (files.go) a start notices whatever is missing or altered, refuses the store
// (datastore.ErrDamaged) and leaves it as it is.
package badger
