// Package shell is the shell commands of drivers and routers. RPCs
// are package operations.
package shell

import (
	"context"
	"fmt"
	"slices"

	"ctl.internal/internal/bier"
	"ctl.internal/internal/bier/bierplugin"
	"ctl.internal/plugins/bier-service/drivers"
	"ctl.internal/plugins/bier-service/mounts"
	"ctl.internal/plugins/bier-service/operations"
	"ctl.internal/sdk/commands"
)

// Shell is what the commands need. The zero Shell describes them; it cannot run one.
type Shell struct {
	Routers   operations.Routers
	Inspector operations.Inspector
	Mounts    *mounts.Mounts
	Registry  *drivers.Registry
}

// Commands returns the table of commands.
func (s *Shell) Commands() []commands.Command {
	return []commands.Command{s.driverList(), s.sessionList(), s.routerAdd(), s.routerRemove(), s.routerSync(), s.alarmList(), s.alarmClear(), s.verify(), s.ping()}
}

// nodes completes ids of mounted routers.
func (s *Shell) nodes(_ context.Context, prefix string) []string {
	return bierplugin.Complete(slices.Values(s.Mounts.Nodes(s.Mounts.Store.Now())), prefix)
}

func (s *Shell) driverList() commands.Command {
	return commands.Command{Name: "bier:driver-list", Summary: "List the drivers of BIER routers", Safe: true,
		Help: "Shows each driver with what it is for, and what its routers are known not to be able to do: tunnel (RFC 8279\n" +
			"section 6.9), transit (without a BFR-id), ecmp (section 6.7), forwarding (show their tables), ping. A router gets\n" +
			"the driver that its mount names, else the one that fits best what it announces.",
		Run: s.runDriverList}
}

func (s *Shell) runDriverList(ctx context.Context, in *commands.Invocation) error {
	t := &commands.Table{Empty: "No driver is installed; feature:install ctl-bier-driver brings one.", Columns: []commands.Column{
		{Title: "Driver", Key: "name"}, {Title: "Version", Key: "version"}, {Title: "Ready", Key: "ready"}, {Title: "Priority", Key: "priority", Right: true},
		{Title: "By itself", Key: "probes"}, {Title: "Dialects", Key: "dialects"}, {Title: "Capabilities", Key: "capabilities", Max: 60},
		{Title: "Lacks", Key: "lacks"}, {Title: "Trouble", Key: "trouble"}}}
	for _, d := range s.Registry.List(ctx) {
		trouble := ""
		if d.Err != nil {
			trouble = d.Err.Error()
		}
		t.Add(d.Name, d.Version, d.Ready, d.About.Priority, d.About.Probes, commands.List(", ", d.About.Dialects), commands.List(", ", d.About.Capabilities), commands.List(", ", d.About.Lacks), trouble)
	}
	return in.Emit(t, nil)
}

func (s *Shell) sessionList() commands.Command {
	return commands.Command{Name: "bier:session-list", Summary: "List the routers with their sessions", Safe: true,
		Help: "Shows each mounted router: its session, its driver, what it cannot do (see bier:driver-list), and whether it\nholds what it must hold.", Run: s.runSessionList}
}

func (s *Shell) runSessionList(ctx context.Context, in *commands.Invocation) error {
	t := &commands.Table{Empty: "No router is mounted; bier:router-add mounts one.", Columns: []commands.Column{
		{Title: "Node", Key: "node-id"}, {Title: "Address", Key: "address"}, {Title: "Session", Key: "session"}, {Title: "Since", Key: "since"},
		{Title: "Driver", Key: "driver"}, {Title: "Dialect", Key: "dialect"}, {Title: "Lacks", Key: "lacks"},
		{Title: "Configuration", Key: "state"}, {Title: "Confirmed", Key: "confirmed"}, {Title: "Reason", Key: "reason", Max: 100}}}
	now := s.Mounts.Store.Now()
	nodes := s.Mounts.Nodes(now)
	var states []bier.RouterState
	if len(nodes) > 0 {
		states = s.Routers.States(ctx, nodes, 0)
	}
	for i, node := range nodes {
		r, x, st := s.Mounts.Get(now, node), s.Routers.Session(node), states[i]
		session, since := "none", ""
		if x.State != "" {
			session = x.State
		}
		if !x.Since.IsZero() {
			since = x.Since.Format("2006-01-02 15:04:05")
		}
		address := r.Host
		if r.Port != 0 {
			address = fmt.Sprintf("%s:%d", r.Host, r.Port)
		}
		reason := st.Reason
		if reason == "" {
			reason = x.Reason
		}
		configuration, confirmed := st.State, ""
		if x.State == "" && st.State == bier.Applied { // it was never asked: what it holds is not known
			configuration = "nothing asked"
			if reason == "" {
				reason = s.Registry.Unused(r.Driver)
			}
		}
		if !st.Confirmed.IsZero() {
			confirmed = st.Confirmed.Format("2006-01-02 15:04:05")
		}
		t.Add(node, address, session, since, st.Driver, x.Dialect, commands.List(", ", st.Lacks), configuration, confirmed, reason)
	}
	return in.Emit(t, nil)
}
