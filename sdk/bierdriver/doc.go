// Package bierdriver is the capability of configuring BIER routers (RFC 8279)
// through some south-bound interface.
//
// A driver is told what a router must hold, whole, and brings it there; what that
// is, and when, the BIER service decides. Package bier computes it, and has Diff
// and Canonical for drivers that compare. Package bierdriver/conformance holds what
// every driver must pass, bierdriver/memory a driver of routers in memory.
package bierdriver
