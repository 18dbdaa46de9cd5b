// Package authn finds out who sends a request: Basic and Bearer credentials,
// the realms of sec.ini in their order, a cache of verified logins and the delay
// that guessing costs.
//
// What somebody may do is rules and policy; the users of the local realm are
// identity's, tokens are package token's.
package authn
