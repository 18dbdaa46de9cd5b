package device

import (
	"context"
	"log/slog"
	"time"

	"ctl.internal/internal/switchcli"
	"ctl.internal/internal/switchcli/hostkeys"
	"ctl.internal/sdk"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// settings is etc/switch-driver-dlink.yaml; form and defaults are in plugin.yaml.
type settings struct {
	Models       []string `json:"models"`
	SysObjectIDs []string `json:"sys_object_ids"`
	Transport    string   `json:"transport"` // switchcli.Telnet or switchcli.SSH, unless the switch says
	Port         uint16   `json:"port"`      // unless the switch says; 0: the transport's own
	hostkeys.Settings
	Timeout sdk.Duration `json:"timeout"`
	Prepare []string     `json:"prepare"` // typed at the start of each session
	Save    bool         `json:"save"`
}

// hostKeys is the command that lists and forgets SSH host keys.
const hostKeys = "dlink:hostkeys"

// Commands describes the shell commands; these cannot be run.
func Commands() []commands.Command {
	return []commands.Command{hostkeys.Table(hostKeys, func() *hostkeys.Keys {
		return nil
	})}
}

// New is the plugin.
func New(_ context.Context, env *sdk.Env) (*sdk.Plugin, error) {
	var s settings
	if err := env.DecodeConfig(&s); err != nil {
		return nil, err
	}
	d := &Driver{
		set:    s,
		parser: NewParser(),
		log:    slog.Default(),
	}
	d.keys = &hostkeys.Keys{
		Policy:  s.HostKeys,
		Store:   env.Host.Datastore,
		File:    "etc/switch-driver-dlink.yaml",
		Command: hostKeys,
		Log:     d.log,
	}
	var bad fault.List
	d.keys.Known, bad = s.Check("")
	bad = append(bad, fault.All(s.Timeout.Between("timeout", 10*time.Millisecond, time.Hour))...)
	for _, line := range s.Prepare {
		if _, err := switchcli.Line(line); err != nil {
			bad = append(bad, fault.At(fault.Invalid, "prepare", "%v", err))
		}
	}
	if s.HostKeys == hostkeys.Any {
		env.Warn("host_keys: any: whoever answers at a switch's address gets its password")
	}
	table := []commands.Command{hostkeys.Table(hostKeys, func() *hostkeys.Keys {
		return d.keys
	})}
	return &sdk.Plugin{
		SwitchDriver: d,
		Commands:     table,
	}, bad.Err()
}
