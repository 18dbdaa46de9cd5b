// Package traps receives SNMP notifications: traps of versions 1, 2c and 3, and
// informs, which it answers. Desk decides about one message and does no I/O;
// Receiver is the socket around it. What is read again because of a trap is decided
// in package survey.
//
// Only switches of the list are believed, and only they are ever answered: the
// source address must be listed and the message must carry that switch's community,
// or be made with its version 3 user. Everything that is kept is bounded.
package traps
