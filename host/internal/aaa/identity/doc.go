// Package identity keeps users, roles, domains and grants in the datastore.
// Every change is one transaction with all that falls with it; the last enabled
// administrator cannot be removed; lookups go through indexes, never a scan.
//
// Who is logged in is package authn, what tokens exist is package token; both
// learn of changes by the principal they look up at each use.
package identity
