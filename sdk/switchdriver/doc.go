// Package switchdriver is the capability of controlling the switches of a vendor.
//
// A driver says which switches it is for and implements only the operations it
// has, each a small interface of its own; whatever it lacks falls to the
// standard-MIB driver of the switch plugin.
package switchdriver
