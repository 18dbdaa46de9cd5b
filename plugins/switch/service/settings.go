package service

import (
	"net"
	"strconv"
	"time"

	"ctl.internal/internal/switchcli/hostkeys"
	"ctl.internal/plugins/switch/driver"
	"ctl.internal/sdk"
	"ctl.internal/sdk/fault"
)

// Settings is etc/switch.yaml. Form and defaults are in the schema of plugin.yaml, and what each is for.
type Settings struct {
	Lists   []string `json:"lists"`
	Vendor  []string `json:"vendor_files"`
	Drivers struct {
		Deadline sdk.Duration `json:"deadline"`
	} `json:"drivers"`
	CLI hostkeys.Settings `json:"cli"`
	SDN struct {
		Apply string `json:"apply"` // "off", "dry-run", "on"
		driver.SDNSettings
	} `json:"sdn"`
	Discovery struct {
		Interval sdk.Duration `json:"interval"`
		Parallel int          `json:"parallel"`
		Deadline sdk.Duration `json:"deadline"`
	} `json:"discovery"`
	SNMP struct {
		Timeout   sdk.Duration `json:"timeout"`
		Retries   int          `json:"retries"`
		Sockets   int          `json:"sockets"`
		PerSwitch int          `json:"per_switch"`
		VarBinds  int          `json:"varbinds"`
		Answers   string       `json:"answers_from"` // "same", or snmp.FromAny
	} `json:"snmp"`
	Traps struct {
		Listen string `json:"listen"`
		Keep   int    `json:"keep"`
	} `json:"traps"`
	Counters struct {
		Interval     sdk.Duration `json:"interval"`
		Utilization  int          `json:"utilization_alarm"` // percent of the speed; 0: none
		Errors       int          `json:"errors_alarm"`      // a second; 0: none
		MetricsPorts int          `json:"metrics_ports"`
	} `json:"counters"`
	Stations struct {
		Interval sdk.Duration `json:"interval"`
		Keep     int          `json:"keep"`
	} `json:"stations"`
	Topology string `json:"topology_id"`
}

// noTraps is the value of Traps.Listen that turns them off.
const noTraps = "off"

// check is what the schema cannot say.
func (s *Settings) check() error {
	_, l := s.CLI.Check("/cli/")
	for _, err := range []error{
		s.Discovery.Interval.Between("/discovery/interval", 0, 366*24*time.Hour),
		s.Discovery.Deadline.Between("/discovery/deadline", 100*time.Millisecond, time.Hour),
		s.Drivers.Deadline.Between("/drivers/deadline", 100*time.Millisecond, 10*time.Minute),
		s.Counters.Interval.Between("/counters/interval", 0, 24*time.Hour),
		s.Stations.Interval.Between("/stations/interval", 0, 24*time.Hour),
		s.SNMP.Timeout.Between("/snmp/timeout", 10*time.Millisecond, time.Minute),
	} {
		l = append(l, fault.All(err)...)
	}
	if s.Traps.Listen != noTraps {
		if _, port, err := net.SplitHostPort(s.Traps.Listen); err != nil {
			l = append(
				l,
				fault.At(
					fault.Invalid,
					"/traps/listen",
					"%q is not address:port, :port or off",
					s.Traps.Listen,
				),
			)
		} else if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			l = append(
				l,
				fault.At(
					fault.Invalid,
					"/traps/listen",
					"port %q is not a number from 0 to 65535",
					port,
				),
			)
		}
	}
	return l.Err()
}
