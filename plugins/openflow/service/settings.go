package service

import (
	"net"
	"slices"
	"time"

	"ctl.internal/plugins/openflow/discovery"
	"ctl.internal/plugins/openflow/lldp"
	"ctl.internal/plugins/openflow/ofp13"
	"ctl.internal/sdk"
	"ctl.internal/sdk/fault"
)

// Settings is etc/openflow.yaml. Form and defaults are in the schema of plugin.yaml.
type Settings struct {
	Listen    string `json:"listen"`
	Topology  string `json:"topology_id"`
	Role      string `json:"role"`
	TableMiss string `json:"table_miss"`
	TLS       struct {
		Enabled            bool `json:"enabled"`
		ClientCertificates bool `json:"client_certificates"`
	} `json:"tls"`
	Discovery struct {
		Interval sdk.Duration `json:"interval"`
		Expiry   sdk.Duration `json:"expiry"`
		Rate     int          `json:"rate"`
	} `json:"discovery"`
	Liveness struct {
		Echo      sdk.Duration `json:"echo"`
		Dead      sdk.Duration `json:"dead"`
		Handshake sdk.Duration `json:"handshake"`
	} `json:"liveness"`
	Statistics sdk.Duration `json:"statistics"`
	Limits     struct {
		Connections int `json:"connections"`
		Ports       int `json:"ports"`
		Outbox      int `json:"outbox"`
		Messages    int `json:"messages"`
		PacketIns   int `json:"packet_ins"`
	} `json:"limits"`
}

// check is what the schema cannot say.
func (s *Settings) check() error {
	l := slices.Concat(
		fault.All(s.Discovery.Interval.Between("/discovery/interval", 100*time.Millisecond, time.Hour)),
		fault.All(s.Discovery.Expiry.Between("/discovery/expiry", 2*s.Discovery.Interval.Duration, 24*time.Hour)),
		fault.All(s.Liveness.Echo.Between("/liveness/echo", 100*time.Millisecond, time.Hour)),
		fault.All(s.Liveness.Dead.Between("/liveness/dead", 2*s.Liveness.Echo.Duration, 24*time.Hour)),
		fault.All(s.Liveness.Handshake.Between("/liveness/handshake", time.Second, time.Hour)))
	if s.Statistics.Duration != 0 {
		l = append(l, fault.All(s.Statistics.Between("/statistics", time.Second, 24*time.Hour))...)
	}
	if _, _, err := net.SplitHostPort(s.Listen); err != nil {
		l = append(l, fault.At(fault.Invalid, "/listen", "%q is not an address and a port, as 127.0.0.1:6653 or [::1]:6653", s.Listen))
	}
	return l.Err()
}

// options are the settings of the core.
func (s *Settings) options(key lldp.Key) discovery.Options {
	role := ofp13.RoleEqual
	if s.Role == "master" {
		role = ofp13.RoleMaster
	}
	return discovery.Options{TopologyID: s.Topology, Key: key, Interval: s.Discovery.Interval.Duration, Expiry: s.Discovery.Expiry.Duration,
		Rate: s.Discovery.Rate, Echo: s.Liveness.Echo.Duration, Dead: s.Liveness.Dead.Duration, Handshake: s.Liveness.Handshake.Duration,
		Statistics: s.Statistics.Duration, Role: role, TableMiss: discovery.TableMiss(s.TableMiss), MaxPorts: s.Limits.Ports}
}
