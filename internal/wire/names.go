package wire

import "strings"

// Environment variables that the host sets for a plugin, of any language.
const (
	EnvSocket = "CTL_HOST_SOCKET" // path of the unix socket of the host's services
	EnvParent = "CTL_HOST_PID"    // the host's process id
	EnvData   = "CTL_DATA_DIR"    // directory of the plugin's own
	EnvTraces = "CTL_HOST_TRACES" // "1": the host takes spans
)

// Metadata keys of calls to the host's socket, and of the host's calls to a plugin.
const (
	MetaMinRevision = "ctl-min-revision" // the plugin's projection must have this revision before it answers
	MetaToken       = "ctl-token"
	MetaProvider    = "ctl-provider" // relay this call to the plugin of that name
	MetaRelay       = "ctl-relay"    // trailer: "provider-gone" when it was the provider that failed
)

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
