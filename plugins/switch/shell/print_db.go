package shell

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ctl.internal/plugins/switch/csvlist"
	"ctl.internal/plugins/switch/inventory"
	"ctl.internal/sdk/commands"
)

func (s *Shell) printDB() commands.Command {
	return commands.Command{
		Name: "switch:PrintDB", Summary: "Show the switch list", Safe: true,
		Help: "Shows the switches of the list, how they are controlled and when they last answered. Communities and\n" +
			"passwords are never shown.",
		Run: s.runPrintDB,
	}
}

func (s *Shell) runPrintDB(_ context.Context, in *commands.Invocation) error {
	t := commands.Table{Empty: "The switch list is empty.", Columns: []commands.Column{
		{Title: "MAC_address (sid)", Key: "mac-address"}, {Title: "IP_address", Key: "ip-address"},
		{Title: "SNMP", Key: "snmp-version"}, {Title: "SNMP_community", Key: "snmp-community"},
		{Title: "CLI_username", Key: "cli-username"}, {Title: "CLI_password", Key: "cli-password"},
		{Title: "Model_name", Key: "model", Max: 32}, {Title: "Driver", Key: "driver"}, {Title: "State", Key: "state", Max: 60},
	}}
	for _, e := range s.Inventory.Entries() {
		t.Add(fmt.Sprintf("00:00:%s (%d)", e.MAC, uint64(e.MAC)), e.Place(),
			version(e), masked(e.ReadCommunity), e.CLIUser, masked(e.CLIPassword), e.Model, s.driverOf(e), s.state(e))
	}
	return in.Emit(t, nil)
}

// masked shows that there is a secret, not even how long it is.
func masked(secret string) string {
	if secret == "" {
		return ""
	}
	return "********"
}

func version(e csvlist.Entry) string {
	if e.Version == "" {
		return "2c or 1"
	}
	return e.Version
}

// driverOf names what controls a switch: its own drivers, the standard one for the rest.
func (s *Shell) driverOf(e csvlist.Entry) any {
	var names []string
	for _, c := range s.Drivers.Choices(inventory.Switch(e)) {
		names = append(names, c.Name)
	}
	if len(names) > 1 {
		names = names[:len(names)-1]
	}
	if e.Driver != "" && !slices.Contains(names, e.Driver) {
		names = []string{e.Driver + " (not there)"}
	}
	return commands.List(", ", names)
}

func (s *Shell) state(e csvlist.Entry) string {
	o, err := s.Survey.Observation(e.MAC), s.Survey.Failure(e.MAC)
	switch {
	case o == nil && err == nil:
		return "not asked yet"
	case o == nil:
		return err.Error()
	case err != nil:
		return fmt.Sprintf("silent; last answered %s ago", age(o.Observed))
	}
	if m := s.Survey.Impostor(e.MAC); m != 0 {
		return fmt.Sprintf("not changed: it says that it is %s; answered %s ago", m, age(o.Observed))
	}
	return fmt.Sprintf("answered %s ago", age(o.Observed))
}

func age(t time.Time) time.Duration { return time.Since(t).Round(time.Second) }
