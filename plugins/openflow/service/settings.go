package service

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"syscall"
	"time"

	"ctl.internal/plugins/openflow/discovery"
	"ctl.internal/plugins/openflow/lldp"
	"ctl.internal/plugins/openflow/ofp13"
	"ctl.internal/sdk"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
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
		fault.All(s.Discovery.Interval.Between(
			"/discovery/interval",
			100*time.Millisecond,
			time.Hour,
		)),
		fault.All(s.Discovery.Expiry.Between(
			"/discovery/expiry",
			2*s.Discovery.Interval.Duration,
			24*time.Hour,
		)),
		fault.All(s.Liveness.Echo.Between("/liveness/echo", 100*time.Millisecond, time.Hour)),
		fault.All(s.Liveness.Dead.Between(
			"/liveness/dead",
			2*s.Liveness.Echo.Duration,
			24*time.Hour,
		)),
		fault.All(s.Liveness.Handshake.Between("/liveness/handshake", time.Second, time.Hour)))
	if s.Statistics.Duration != 0 {
		l = append(l, fault.All(s.Statistics.Between("/statistics", time.Second, 24*time.Hour))...)
	}
	if _, _, err := net.SplitHostPort(s.Listen); err != nil {
		l = append(
			l,
			fault.At(
				fault.Invalid,
				"/listen",
				"%q is not an address and a port, as 127.0.0.1:6653 or [::1]:6653",
				s.Listen,
			),
		)
	}
	return l.Err()
}

// coreOptions are the settings of the core.
func (s *Settings) coreOptions(key lldp.Key) discovery.Options {
	role := ofp13.RoleEqual
	if s.Role == "master" {
		role = ofp13.RoleMaster
	}
	return discovery.Options{
		TopologyID: s.Topology,
		Key:        key,
		Interval:   s.Discovery.Interval.Duration,
		Expiry:     s.Discovery.Expiry.Duration,
		Rate:       s.Discovery.Rate,
		Echo:       s.Liveness.Echo.Duration,
		Dead:       s.Liveness.Dead.Duration,
		Handshake:  s.Liveness.Handshake.Duration,
		Statistics: s.Statistics.Duration,
		Role:       role,
		TableMiss:  discovery.TableMiss(s.TableMiss),
		MaxPorts:   s.Limits.Ports,
	}
}

// spare descriptors are for all that is not a switch.
const spare = 64

// allowedConnections returns how many of the connections wanted fit into the limit of open files,
// with a warning for the operator when not all do. Go's runtime has raised the soft limit
// to the hard one.
func allowedConnections(wanted int) (int, string) {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return wanted, "the limit of open files is not known: " + err.Error()
	}
	if l.Cur >= uint64(wanted+spare) {
		return wanted, ""
	}
	fit := max(int(l.Cur)-spare, 1)
	return fit, fmt.Sprintf(
		"only %d of limits.connections: %d fit into the limit of open files, %d; raise it (LimitNOFILE of the service, ulimit -Hn)",
		fit,
		wanted,
		l.Cur,
	)
}

// keystoreTime is what the host may take to hand out certificates.
const keystoreTime = 5 * time.Second

// tlsConfig returns nil when TLS is off.
func tlsConfig(ctx context.Context, s *Settings, h *host.Client) (*tls.Config, error) {
	if !s.TLS.Enabled {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, keystoreTime)
	defer cancel()
	const remedy = "tls.enabled in etc/openflow.yaml needs the controller's keystore (feature ctl-aaa-cert): "
	cert, err := h.Certificates.Identity(ctx)
	if err != nil {
		return nil, fault.Wrap(fault.KindOf(err), err, remedy+"%v", err)
	}
	c := &tls.Config{
		Certificates: []tls.Certificate{cert},
		MinVersion:   tls.VersionTLS12,
	}
	if s.TLS.ClientCertificates {
		if c.ClientCAs, err = h.Certificates.Trust(ctx); err != nil {
			return nil, fault.Wrap(fault.KindOf(err), err, remedy+"%v", err)
		}
		c.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return c, nil
}
