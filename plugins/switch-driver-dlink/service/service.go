package service

import (
	"context"
	"log/slog"
	"time"

	"ctl.internal/internal/switchcli"
	"ctl.internal/internal/switchcli/hostkeys"
	"ctl.internal/plugins/switch-driver-dlink/device"
	"ctl.internal/sdk"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// settings is etc/switch-driver-dlink.yaml; form and defaults are in plugin.yaml.
type settings struct {
	Models       []string `json:"models"`
	SysObjectIDs []string `json:"sys_object_ids"`
	Transport    string   `json:"transport"`
	Port         uint16   `json:"port"`
	hostkeys.Settings
	Timeout string   `json:"timeout"`
	Prepare []string `json:"prepare"`
	Save    bool     `json:"save"`
}

// hostKeys is the command that lists and forgets SSH host keys.
const hostKeys = "dlink:hostkeys"

// Commands describes the shell commands; these cannot be run.
func Commands() []commands.Command {
	return []commands.Command{hostkeys.Table(hostKeys, func() *hostkeys.Keys { return nil })}
}

// New is the plugin.
func New(_ context.Context, env *sdk.Env) (*sdk.Plugin, error) {
	var s settings
	if err := env.DecodeConfig(&s); err != nil {
		return nil, err
	}
	log := slog.Default()
	out := device.Settings{Match: switchdriver.Match{Models: s.Models, SysObjectIDs: s.SysObjectIDs}, Transport: s.Transport, Port: s.Port, Prepare: s.Prepare, Save: s.Save, Log: log,
		Keys: &hostkeys.Keys{Policy: s.HostKeys, Store: env.Host.Datastore, File: "etc/switch-driver-dlink.yaml", Command: hostKeys, Log: log}}
	var bad fault.List
	out.Keys.Known, bad = s.Check("")
	var err error
	if out.Timeout, err = time.ParseDuration(s.Timeout); err != nil || out.Timeout < 10*time.Millisecond || out.Timeout > time.Hour {
		bad = append(bad, fault.At(fault.Invalid, "timeout", "%q is no duration between 10ms and 1h", s.Timeout))
	}
	for _, line := range s.Prepare {
		if _, err := switchcli.Line(line); err != nil {
			bad = append(bad, fault.At(fault.Invalid, "prepare", "%v", err))
		}
	}
	if s.HostKeys == hostkeys.Any {
		env.Warn("host_keys: any: whoever answers at a switch's address gets its password")
	}
	table := []commands.Command{hostkeys.Table(hostKeys, func() *hostkeys.Keys { return out.Keys })}
	return &sdk.Plugin{SwitchDriver: device.New(out), Commands: table}, bad.Err()
}
