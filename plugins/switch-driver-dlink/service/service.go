package service

import (
	"context"
	"log/slog"
	"net/netip"
	"time"

	"golang.org/x/crypto/ssh"

	"ctl.internal/plugins/switch-driver-dlink/device"
	"ctl.internal/sdk"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchcli"
	"ctl.internal/sdk/switchdriver"
)

// settings is etc/switch-driver-dlink.yaml; form and defaults are in plugin.yaml.
type settings struct {
	Models       []string          `json:"models"`
	SysObjectIDs []string          `json:"sys_object_ids"`
	Transport    string            `json:"transport"`
	Port         uint16            `json:"port"`
	HostKeys     string            `json:"host_keys"`
	KnownHosts   map[string]string `json:"known_hosts"`
	Timeout      string            `json:"timeout"`
	Prepare      []string          `json:"prepare"`
	Save         bool              `json:"save"`
}

// New is the plugin.
func New(_ context.Context, env *sdk.Env) (*sdk.Plugin, error) {
	var s settings
	if err := env.DecodeConfig(&s); err != nil {
		return nil, err
	}
	log := slog.Default()
	out := device.Settings{Match: switchdriver.Match{Models: s.Models, SysObjectIDs: s.SysObjectIDs}, Transport: s.Transport, Port: s.Port, Prepare: s.Prepare, Save: s.Save, Log: log,
		Keys: &device.Keys{Policy: s.HostKeys, Known: map[string]string{}, Store: env.Host.Datastore, Log: log}}
	var bad fault.List
	var err error
	if out.Timeout, err = time.ParseDuration(s.Timeout); err != nil || out.Timeout < 10*time.Millisecond || out.Timeout > time.Hour {
		bad = append(bad, fault.At(fault.Invalid, "timeout", "%q is no duration between 10ms and 1h", s.Timeout))
	}
	for _, line := range s.Prepare {
		if _, err := switchcli.Line(line); err != nil {
			bad = append(bad, fault.At(fault.Invalid, "prepare", "%v", err))
		}
	}
	for address, key := range s.KnownHosts {
		a, err := netip.ParseAddr(address)
		if err != nil {
			bad = append(bad, fault.At(fault.Invalid, "known_hosts", "%.60q is no IP address", address))
			continue
		}
		if _, _, _, _, err := ssh.ParseAuthorizedKey([]byte(key)); err != nil {
			bad = append(bad, fault.At(fault.Invalid, "known_hosts/"+address, "that is no line such as \"ssh-ed25519 AAAA…\""))
		}
		out.Keys.Known[a.String()] = key
	}
	if s.HostKeys == device.Any {
		env.Warn("host_keys: any: whoever answers at a switch's address gets its password")
	}
	return &sdk.Plugin{SwitchDriver: device.New(out)}, bad.Err()
}
