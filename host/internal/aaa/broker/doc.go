// Package broker enforces simple authorization: when a service has policies, its
// data is open only to users who hold the role of a policy that matches. It is
// experimental in the documents; package policy is what new policies should use.
package broker
