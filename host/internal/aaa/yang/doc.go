// Package yang holds the modules of access control that RESTCONF serves: the
// policies (aaa) and the authorization broker (authorization-schema).
package yang
