// Package bier is what the BIER plugins and drivers share about bit-indexed
// explicit replication (RFC 8279): the data of a topology and of a channel, their
// rules, bit strings, shortest paths and forwarding tables, and what each router
// must hold. It does no I/O and starts nothing.
//
// The contract with drivers is package bierdriver.
package bier
