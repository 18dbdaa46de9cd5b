// Package model is the rules of BIER topologies: what a call changes, and what is not
// allowed. It has no I/O; the topologies it is given are never changed.
package model
