// Package yang turns YANG modules into schema trees and checks JSON against
// them: one pass reports every fault with its RFC 7951 path, fills defaults and
// gives the canonical form that plugins receive.
//
// The text of the modules is parsed by goyang; what goyang would drop in silence
// is refused at load, so that no constraint of a module passes unchecked. A Set
// is immutable: when plugins come and go, a new Set is built from their files.
//
// Use package encoding/json for documents without a schema, and host/internal's
// restconf for what is stored and addressed by URL.
package yang
