package service

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"ctl.internal/internal/switchcli/hostkeys"
	"ctl.internal/sdk/fault"
)

// Settings is etc/switch.yaml. Form and defaults are in the schema of plugin.yaml.
type Settings struct {
	Lists     []string          `json:"lists"`
	Vendor    []string          `json:"vendor_files"`
	Drivers   Drivers           `json:"drivers"`
	CLI       hostkeys.Settings `json:"cli"`
	SDN       SDN               `json:"sdn"`
	Discovery Discovery         `json:"discovery"`
	SNMP      SNMP              `json:"snmp"`
	Traps     Traps             `json:"traps"`
	Topology  string            `json:"topology_id"`
}

// Drivers is how vendors' drivers are called.
type Drivers struct {
	Deadline Duration `json:"deadline"`
}

// SDN is the settings that SDN needs on switches.
type SDN struct {
	Apply     string `json:"apply"` // "off", "dry-run", "on"
	STP       bool   `json:"disable_stp"`
	BPDU      bool   `json:"disable_bpdu_flooding"`
	Broadcast bool   `json:"disable_broadcast_flooding"`
	Multicast bool   `json:"disable_multicast_flooding"`
	Unknown   bool   `json:"disable_unknown_flooding"`
	Learning  bool   `json:"disable_learning"`
}

// Discovery is how the network is discovered.
type Discovery struct {
	Interval Duration `json:"interval"`
	Parallel int      `json:"parallel"`
	Deadline Duration `json:"deadline"`
}

// SNMP is how switches are asked.
type SNMP struct {
	Timeout   Duration `json:"timeout"`
	Retries   int      `json:"retries"`
	Sockets   int      `json:"sockets"`
	PerSwitch int      `json:"per_switch"`
	VarBinds  int      `json:"varbinds"`
}

// Traps is how notifications are received.
type Traps struct {
	Listen string `json:"listen"`
	Keep   int    `json:"keep"`
}

// noTraps is the value of Traps.Listen that turns them off.
const noTraps = "off"

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
	_, l := s.CLI.Check("/cli/")
	within := func(path string, d Duration, least, most time.Duration) {
		if d.Std() < least || d.Std() > most {
			l = append(l, fault.At(fault.Invalid, path, "%s is not between %s and %s", d.Std(), least, most))
		}
	}
	within("/discovery/interval", s.Discovery.Interval, 0, 366*24*time.Hour)
	within("/discovery/deadline", s.Discovery.Deadline, 100*time.Millisecond, time.Hour)
	within("/drivers/deadline", s.Drivers.Deadline, 100*time.Millisecond, 10*time.Minute)
	within("/snmp/timeout", s.SNMP.Timeout, 10*time.Millisecond, time.Minute)
	if s.Traps.Listen != noTraps {
		if _, port, err := net.SplitHostPort(s.Traps.Listen); err != nil {
			l = append(l, fault.At(fault.Invalid, "/traps/listen", "%q is not address:port, :port or off", s.Traps.Listen))
		} else if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			l = append(l, fault.At(fault.Invalid, "/traps/listen", "port %q is not a number from 0 to 65535", port))
		}
	}
	return l.Err()
}

// home is the folder that relative paths start from. The host keeps a plugin's
// data in data/plugins/NAME below it.
func home(dataDir string) string {
	if h := os.Getenv("CTL_HOME"); h != "" {
		return h
	}
	plugins := filepath.Dir(filepath.Clean(dataDir))
	if data := filepath.Dir(plugins); filepath.Base(plugins) == "plugins" && filepath.Base(data) == "data" {
		return filepath.Dir(data)
	}
	return dataDir
}
