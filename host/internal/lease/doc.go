// Package lease says which nodes of a cluster are alive and gives each role to one
// holder at a time, among the processes of this node and among all nodes.
//
// A node has one lease. Its record node/ID and the keys role/NAME of the roles that it
// holds are under that lease, so they go when it is not renewed. The revision of a role's
// key is the epoch of its holder, which every fenced transaction compares. A term ends for
// its holder two thirds of the lease after the last confirmed renewal was sent, by
// CLOCK_BOOTTIME: before the store gives the role to another node.
//
// Without an engine that has leases (one node alone) a role is granted at once and for as
// long as its holder likes.
package lease
