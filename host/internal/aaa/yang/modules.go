// Package yang holds the modules of access control that RESTCONF serves: the
// policies (aaa) and the authorization broker (authorization-schema).
package yang

import "embed"

// Modules are the files, *.yang.
//
//go:embed *.yang
var Modules embed.FS
