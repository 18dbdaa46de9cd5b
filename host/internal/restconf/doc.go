// Package restconf serves the installed YANG modules over HTTP: RPCs, the
// configuration and operational trees, the list of modules and event streams.
//
// Two envelopes lie over one implementation: the documented paths of older
// controllers below /restconf, and RFC 8040 below /rests. What is allowed to whom
// was decided before a request arrives here (package aaa); what a plugin serves
// outside of YANG is package plugin's (capability routes).
package restconf
