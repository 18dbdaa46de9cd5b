// Package lldp makes and reads the frames by which links are found: LLDP (IEEE
// 802.1AB, clauses 8 and 9) with an organizationally specific TLV that tells, under
// a key, which port of which switch the frame left by. Only what the key confirms
// is believed. The decision what a frame means is in package discovery.
package lldp
