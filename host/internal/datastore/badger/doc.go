// Package badger is the datastore engine that survives: Badger v4 in a
// directory of the home. An acknowledged transaction is on the disk unless it
// was Volatile. A store that lost something it had acknowledged is told
// (datastore.ErrDamaged) and left as it is: see preflight.go. For data that the
// next start observes anew, use package memory.
package badger
