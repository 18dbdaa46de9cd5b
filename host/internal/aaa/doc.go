// Package aaa is the access control that stands before everything else: it reads
// a request's path once, finds out who asks, decides by the static rules and the
// policies, and hands on a request whose context carries the caller.
//
// Rooms inside: reqpath (paths), secini and pattern (grammar), rules (static),
// policy (dynamic), broker (services), identity and password (who exists), token,
// authn and throttle (who is asking), idm (the HTTP services), accounting (what
// is written down), shell (the aaa: commands).
package aaa
