package device

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"ctl.internal/sdk"
	"ctl.internal/sdk/fault"
)

// place is how the host of a switch is reached.
type place struct {
	OVSDB   string `json:"ovsdb"`    // tcp:{address}:{port}
	TLSName string `json:"tls_name"` // ssl: what the host's certificate must be for; empty: anything
	Unixctl string `json:"unixctl"`  // empty: none
	Bridge  string `json:"bridge"`   // empty: found
}

// settings is etc/switch-driver-ovs.yaml; form and defaults are in plugin.yaml.
type settings struct {
	Models  []string     `json:"models"`
	place                // of every host
	Port    uint32       `json:"port"`
	Timeout sdk.Duration `json:"timeout"`
	Hosts   []struct {
		Address string `json:"address"`
		place          // what is empty is as for every host
	} `json:"hosts"`
}

// New is the plugin.
func New(_ context.Context, env *sdk.Env) (*sdk.Plugin, error) {
	d := &Driver{hosts: map[string]place{}}
	if err := env.DecodeConfig(&d.set); err != nil {
		return nil, err
	}
	d.tls = func(ctx context.Context, name string) (*tls.Config, error) {
		return newTLSConfig(ctx, env.Host, name)
	}
	return &sdk.Plugin{SwitchDriver: d}, d.checkSettings()
}

// checkSettings is what the schema cannot say.
func (d *Driver) checkSettings() error {
	bad := fault.All(d.set.Timeout.Between("timeout", 10*time.Millisecond, time.Hour))
	endpoint := func(path, value string, schemes ...string) {
		scheme, rest, _ := strings.Cut(value, ":")
		for _, ok := range schemes {
			if scheme == ok && rest != "" && (scheme == "unix") == strings.HasPrefix(rest, "/") {
				return
			}
		}
		if value != "" {
			bad = append(
				bad,
				fault.At(
					fault.Invalid,
					path,
					"%.80q is not an OVSDB address; write %s",
					value,
					strings.Join(schemes, ":… or ")+":…",
				),
			)
		}
	}
	endpoints := func(path string, p place) {
		endpoint(path+"ovsdb", p.OVSDB, "tcp", "ssl", "unix")
		endpoint(path+"unixctl", p.Unixctl, "unix", "tcp")
	}
	endpoints("", d.set.place)
	for i, h := range d.set.Hosts {
		path := fmt.Sprintf("hosts/%d/", i)
		a, err := netip.ParseAddr(h.Address)
		if err != nil {
			bad = append(
				bad,
				fault.At(fault.Invalid, path+"address", "%.60q is not an IP address", h.Address),
			)
			continue
		}
		endpoints(path, h.place)
		d.hosts[a.String()] = h.place
	}
	return bad.Err()
}
