package sdk

import "strings"

// Reattach is what a plugin under a debugger prints and ctld reads from the
// environment variable ReattachVariable(name).
type Reattach struct {
	Protocol        string `json:"protocol"`
	ProtocolVersion int    `json:"protocol_version"`
	Pid             int    `json:"pid"`
	Network         string `json:"network"`
	Address         string `json:"address"`
}

// ReattachVariable names the environment variable for a plugin: "switch" has
// SWITCH_REATTACH.
func ReattachVariable(plugin string) string {
	return strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(plugin)) + "_REATTACH"
}
