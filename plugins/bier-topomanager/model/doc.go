// Package model decides what a call on BIER topologies changes. It has no I/O:
// each decision is a Change, or why not; whoever keeps the data applies it.
package model
