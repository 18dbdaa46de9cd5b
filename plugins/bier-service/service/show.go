package service

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"ctl.internal/internal/bier"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/operations"
)

// formatTime is a time in a table, "" for none.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.DateTime)
}

func (s *Service) listDrivers(ctx context.Context, in *commands.Invocation) error {
	t := &commands.Table{
		Empty: "No driver is installed; feature:install ctl-bier-driver brings one.",
		Columns: []commands.Column{
			{
				Title: "Driver",
				Key:   "name",
			}, {
				Title: "Version",
				Key:   "version",
			}, {Title: "Ready", Key: "ready"},
			{
				Title: "Priority",
				Key:   "priority",
				Right: true,
			}, {Title: "By itself", Key: "probes"},
			{
				Title: "Dialects",
				Key:   "dialects",
			}, {
				Title: "Capabilities",
				Key:   "capabilities",
				Max:   60,
			},
			{
				Title: "Lacks",
				Key:   "lacks",
			}, {Title: "Trouble", Key: "trouble"}},
	}
	for _, d := range s.registry.List(ctx) {
		trouble := ""
		if d.Err != nil {
			trouble = d.Err.Error()
		}
		t.Add(d.Name, d.Version, d.Ready, d.About.Priority, d.About.Probes, commands.List(", ", d.About.Dialects),
			commands.List(", ", d.About.Capabilities), commands.List(", ", d.About.Lacks), trouble)
	}
	return in.Emit(t, nil)
}

func (s *Service) listSessions(ctx context.Context, in *commands.Invocation) error {
	t := &commands.Table{
		Empty: "No router is mounted; bier:router-add mounts one.",
		Columns: []commands.Column{
			{
				Title: "Node",
				Key:   "node-id",
			}, {
				Title: "Address",
				Key:   "address",
			}, {Title: "Session", Key: "session"},
			{
				Title: "Since",
				Key:   "since",
			}, {
				Title: "Driver",
				Key:   "driver",
			}, {Title: "Dialect", Key: "dialect"},
			{
				Title: "Lacks",
				Key:   "lacks",
			}, {
				Title: "Configuration",
				Key:   "state",
			}, {Title: "Confirmed", Key: "confirmed"},
			{Title: "Reason", Key: "reason", Max: 100}},
	}
	now := s.data.store.Now()
	nodes := s.data.Mounts.Nodes(now)
	var states []bier.RouterState
	if len(nodes) > 0 {
		states = s.awaitRouterStates(ctx, nodes, 0)
	}
	now = s.data.store.Now()
	for i, node := range nodes {
		r, st := s.data.Mounts.Get(now, node), states[i]
		if r == nil {
			continue // it was unmounted meanwhile
		}
		x, _ := s.data.status.Sessions.Get(now, node)
		address := r.Host
		if r.Port != 0 {
			address = fmt.Sprintf("%s:%d", r.Host, r.Port)
		}
		configuration, reason := st.State, cmp.Or(st.Reason, x.Reason)
		if x.State == "" &&
			st.State == bier.Applied { // it was never asked: what it holds is not known
			configuration, reason = "nothing asked", cmp.Or(reason, s.registry.Unused(r.Driver))
		}
		t.Add(node, address, cmp.Or(x.State, "none"), formatTime(x.Since), st.Driver, x.Dialect, commands.List(", ", st.Lacks),
			configuration, formatTime(st.Confirmed), reason)
	}
	return in.Emit(t, nil)
}

func (s *Service) syncRouters(ctx context.Context, in *commands.Invocation) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	list, err := s.compareRouters(ctx, in.Args["node"])
	if err != nil {
		return err
	}
	t := &commands.Table{
		Empty: "No router must hold anything.",
		Columns: []commands.Column{{
			Title: "Node",
			Key:   "node-id",
		},
			{
				Title: "State",
				Key:   "state",
			}, {
				Title: "Driver",
				Key:   "driver",
			}, {Title: "Reason", Key: "reason"}},
	}
	for _, r := range list {
		t.Add(r.Node, r.State, r.Driver, r.Reason)
	}
	return in.Emit(t, nil)
}

func (s *Service) listAlarms(ctx context.Context, in *commands.Invocation) error {
	out, err := s.openAlarms(ctx, operations.None{})
	if err != nil {
		return err
	}
	t := &commands.Table{
		Empty: "There are no alarms.",
		Columns: []commands.Column{{
			Title: "Severity",
			Key:   "severity",
		},
			{
				Title: "Resource",
				Key:   "resource",
			}, {
				Title: "Alarm",
				Key:   "alarm-type",
			}, {Title: "Raised", Key: "raised"},
			{Title: "What", Key: "text", Max: 200}},
	}
	for _, a := range out.Alarms {
		t.Add(a.Severity, a.Resource, a.Type, a.Raised.Format(time.DateTime), a.Text)
	}
	return in.Emit(t, nil)
}

func (s *Service) showVerified(ctx context.Context, in *commands.Invocation) error {
	out, err := s.verifyForwarding(ctx, nodesIn{Nodes: in.Args["node"]})
	if err != nil {
		return err
	}
	t := &commands.Table{
		Empty: "No router is mounted.",
		Columns: []commands.Column{{
			Title: "Node",
			Key:   "node-id",
		},
			{
				Title: "Result",
				Key:   "result",
			}, {Title: "Tables", Key: "tables", Right: true},
			{
				Title: "Packets",
				Key:   "packets",
				Right: true,
			}, {
				Title: "Bytes",
				Key:   "bytes",
				Right: true,
			}, {Title: "What", Key: "reason"}},
	}
	others := 0
	for _, v := range out.Routers {
		packets, bytes := "", ""
		if v.Counted {
			packets, bytes = strconv.FormatUint(v.Packets, 10), strconv.FormatUint(v.Bytes, 10)
		}
		t.Add(v.Node, v.Result, v.Tables, packets, bytes, v.Reason)
		for _, d := range v.Differences[min(1, len(v.Differences)):] { // the first is the reason
			t.Add(v.Node, "", "", "", "", d)
		}
		if v.Result == different {
			others++
		}
	}
	if err := in.Emit(t, nil); err != nil {
		return err
	}
	if others > 0 {
		return fmt.Errorf("%d routers have other forwarding tables than computed", others)
	}
	return nil
}

func (s *Service) showPinged(ctx context.Context, in *commands.Invocation) error {
	count, _ := strconv.Atoi(in.Option("count")) // what is not a number is 0, which is refused
	out, err := s.pingChannel(
		ctx,
		pingIn{
			Topology: in.Option("topology"),
			Channel:  in.Arg("channel"),
			Egress:   in.Args["egress"],
			Count:    count,
		},
	)
	if err != nil {
		return err
	}
	t := &commands.Table{Columns: []commands.Column{{
		Title: "Egress",
		Key:   "node-id",
	}, {Title: "Sent", Key: "sent", Right: true},
		{
			Title: "Received",
			Key:   "received",
			Right: true,
		}, {
			Title: "State",
			Key:   "state",
		}, {Title: "Reason", Key: "reason"}}}
	lost := 0
	for _, p := range out.Egress {
		t.Add(p.Node, p.Sent, p.Received, p.State, p.Reason)
		if p.Received < p.Sent {
			lost++
		}
	}
	if err := in.Emit(t, nil); err != nil {
		return err
	}
	if lost > 0 {
		return fmt.Errorf("%d of %d egress nodes did not answer all packets", lost, len(out.Egress))
	}
	return nil
}

func (s *Service) showBitStrings(ctx context.Context, in *commands.Invocation) error {
	q := bitStringIn{
		Topology: in.Option("topology"),
		Channel:  in.Arg("channel"),
	}
	for _, node := range in.Args["egress"] {
		q.Targets = append(q.Targets, targetNode{node})
	}
	out, err := s.targetBitStrings(ctx, q)
	if err != nil {
		return err
	}
	t := &commands.Table{
		Empty: "No packet leaves the ingress.",
		Columns: []commands.Column{
			{Title: "SI", Key: "si", Right: true},
			{
				Title: "Length",
				Key:   "bitstringlength",
				Right: true,
			},
			{Title: "BitString", Key: "bits"},
		},
	}
	for _, b := range out.BitStrings {
		t.Add(b.SI, b.BSL, b.Bits)
	}
	return in.Emit(t, nil)
}
