package service

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"ctl.internal/plugins/switch-driver-ovs/device"
	"ctl.internal/sdk"
	"ctl.internal/sdk/fault"
)

// settings is etc/switch-driver-ovs.yaml; form and defaults are in plugin.yaml.
type settings struct {
	Models  []string `json:"models"`
	OVSDB   string   `json:"ovsdb"`
	Port    uint32   `json:"port"`
	TLSName string   `json:"tls_name"`
	Unixctl string   `json:"unixctl"`
	Bridge  string   `json:"bridge"`
	Timeout string   `json:"timeout"`
	Hosts   []struct {
		Address string `json:"address"`
		OVSDB   string `json:"ovsdb"`
		TLSName string `json:"tls_name"`
		Unixctl string `json:"unixctl"`
		Bridge  string `json:"bridge"`
	} `json:"hosts"`
}

// New is the plugin.
func New(_ context.Context, env *sdk.Env) (*sdk.Plugin, error) {
	var s settings
	if err := env.DecodeConfig(&s); err != nil {
		return nil, err
	}
	out, err := read(s)
	if err != nil {
		return nil, err
	}
	out.TLS = func(ctx context.Context, name string) (*tls.Config, error) { return secure(ctx, env.Host, name) }
	return &sdk.Plugin{SwitchDriver: device.New(out)}, nil
}

func read(s settings) (device.Settings, error) {
	out := device.Settings{Models: s.Models, Port: s.Port, Hosts: map[string]device.Place{},
		Place: device.Place{OVSDB: s.OVSDB, TLSName: s.TLSName, Unixctl: s.Unixctl, Bridge: s.Bridge}}
	var bad fault.List
	check := func(path, value string, schemes ...string) {
		scheme, rest, _ := strings.Cut(value, ":")
		for _, ok := range schemes {
			if scheme == ok && rest != "" && (scheme == "unix") == strings.HasPrefix(rest, "/") {
				return
			}
		}
		if value != "" {
			bad = append(bad, fault.At(fault.Invalid, path, "%.80q is no place; write %s", value, strings.Join(schemes, ":… or ")+":…"))
		}
	}
	check("ovsdb", s.OVSDB, "tcp", "ssl", "unix")
	check("unixctl", s.Unixctl, "unix", "tcp")
	for i, h := range s.Hosts {
		path := fmt.Sprintf("hosts/%d/", i)
		a, err := netip.ParseAddr(h.Address)
		if err != nil {
			bad = append(bad, fault.At(fault.Invalid, path+"address", "%.60q is no IP address", h.Address))
			continue
		}
		check(path+"ovsdb", h.OVSDB, "tcp", "ssl", "unix")
		check(path+"unixctl", h.Unixctl, "unix", "tcp")
		out.Hosts[a.String()] = device.Place{OVSDB: h.OVSDB, TLSName: h.TLSName, Unixctl: h.Unixctl, Bridge: h.Bridge}
	}
	var err error
	if out.Timeout, err = time.ParseDuration(s.Timeout); err != nil || out.Timeout < 10*time.Millisecond || out.Timeout > time.Hour {
		bad = append(bad, fault.At(fault.Invalid, "timeout", "%q is no duration between 10ms and 1h", s.Timeout))
	}
	return out, bad.Err()
}
