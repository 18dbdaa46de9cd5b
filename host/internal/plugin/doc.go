// Package plugin keeps plugins running and leads calls to them: it starts, watches,
// restarts, replaces and stops their processes, repeats calls that may be repeated
// when one dies, and tells everybody who serves what.
//
// Manager is the front. Below it, each in a package of its own: process (one
// operating-system process), logline (what it logs), hostsvc (the services a plugin
// calls), relay (calls from plugin to plugin), events (the event bus) and
// topomirror (the merged view of all topology sources). Which plugins should run is
// the business of package feature; what may be called by whom that of aaa.
package plugin
