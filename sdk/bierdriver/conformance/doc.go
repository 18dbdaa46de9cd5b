// Package conformance is what every driver of BIER routers must pass. A driver's
// tests call Run with a router of its kind, simulated or real.
package conformance
