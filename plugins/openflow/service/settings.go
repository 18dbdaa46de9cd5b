package service

import (
	"encoding/json"
	"net"
	"time"

	"ctl.internal/plugins/openflow/discovery"
	"ctl.internal/plugins/openflow/lldp"
	"ctl.internal/plugins/openflow/ofp13"
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
		Interval Duration `json:"interval"`
		Expiry   Duration `json:"expiry"`
		Rate     int      `json:"rate"`
	} `json:"discovery"`
	Liveness struct {
		Echo      Duration `json:"echo"`
		Dead      Duration `json:"dead"`
		Handshake Duration `json:"handshake"`
	} `json:"liveness"`
	Statistics Duration `json:"statistics"`
	Limits     struct {
		Connections int `json:"connections"`
		Ports       int `json:"ports"`
		Outbox      int `json:"outbox"`
		Messages    int `json:"messages"`
		PacketIns   int `json:"packet_ins"`
	} `json:"limits"`
}

// Duration is a time.Duration as "1.5s" in the settings.
type Duration time.Duration

// UnmarshalJSON reads Go's form of a duration.
func (d *Duration) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	v, err := time.ParseDuration(s)
	*d = Duration(v)
	return err
}

// Std returns the value as a time.Duration.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// check is what the schema cannot say.
func (s *Settings) check() error {
	var l fault.List
	within := func(path string, d Duration, least, most time.Duration) {
		if d.Std() < least || d.Std() > most {
			l = append(l, fault.At(fault.Invalid, path, "%s is not between %s and %s", d.Std(), least, most))
		}
	}
	within("/discovery/interval", s.Discovery.Interval, 100*time.Millisecond, time.Hour)
	within("/discovery/expiry", s.Discovery.Expiry, 2*s.Discovery.Interval.Std(), 24*time.Hour)
	within("/liveness/echo", s.Liveness.Echo, 100*time.Millisecond, time.Hour)
	within("/liveness/dead", s.Liveness.Dead, 2*s.Liveness.Echo.Std(), 24*time.Hour)
	within("/liveness/handshake", s.Liveness.Handshake, time.Second, time.Hour)
	if s.Statistics != 0 {
		within("/statistics", s.Statistics, time.Second, 24*time.Hour)
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
	return discovery.Options{TopologyID: s.Topology, Key: key, Interval: s.Discovery.Interval.Std(), Expiry: s.Discovery.Expiry.Std(),
		Rate: s.Discovery.Rate, Echo: s.Liveness.Echo.Std(), Dead: s.Liveness.Dead.Std(), Handshake: s.Liveness.Handshake.Std(),
		Statistics: s.Statistics.Std(), Role: role, TableMiss: discovery.TableMiss(s.TableMiss), MaxPorts: s.Limits.Ports}
}
