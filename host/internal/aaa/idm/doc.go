// Package idm serves the identity management under /auth/v1, the version
// resource /auth/ and the token endpoints under /oauth2. It is a thin edge: what
// is allowed and kept is decided by packages identity, token and authn.
package idm
