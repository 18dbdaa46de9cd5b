// Package topomirror keeps a merged view of all sources of network topology: every
// plugin with the capability "topology" is watched, and what it sent last is kept
// while it restarts. The view feeds the operational tree network-topology. Making
// a topology is the business of the plugins (sdk/topology).
package topomirror
