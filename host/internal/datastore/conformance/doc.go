// Package conformance is the suite that every datastore engine passes: what the
// rooms above rely on, said once. An engine's test calls Run.
package conformance
