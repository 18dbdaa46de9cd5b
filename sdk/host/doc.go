// Package host is the host's side as a plugin sees it: a datastore of its own,
// the RPCs of other modules, events, secrets, certificates, and the switchboard
// that leads to other plugins. All calls need a context; those without a deadline
// get one from the host.
package host
