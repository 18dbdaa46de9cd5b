package yang

import "embed"

// Modules are the files, *.yang.
//
//go:embed *.yang
var Modules embed.FS
