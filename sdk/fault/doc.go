// Package fault carries errors across the process border between the host and
// its plugins without losing what they mean.
//
// A plugin returns a *fault.Error (or several, as a fault.List); the host maps
// its Kind to an HTTP status and to an RFC 8040 error-tag. Plain Go errors are
// carried as Internal. Use package errors for anything that stays inside one
// process.
package fault
