// Package engine holds what the datastore engines share, so that they cannot
// disagree: the rules for keys, the meaning of a transaction (Resolve, no I/O)
// and the loop of a watch (Follow). Users of the store want package datastore.
package engine
