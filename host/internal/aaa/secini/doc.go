// Package secini reads etc/sec.ini: the sections [main], [users], [roles] and
// [urls] in the grammar that the security framework's users know.
//
// It only reads: every fault is reported with file, line and remedy. What the
// objects of [main] are is decided by the rooms that use them (authn for
// realms); what the filters of [urls] do is package rules.
package secini
