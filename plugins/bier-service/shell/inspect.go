package shell

import (
	"context"
	"fmt"
	"strconv"

	"ctl.internal/plugins/bier-service/operations"
	"ctl.internal/sdk/commands"
)

func (s *Shell) verify() commands.Command {
	return commands.Command{Name: "bier:verify", Summary: "Compare the forwarding tables of routers with those computed", Safe: true,
		Help: "Reads the tables that routers made of their configuration, where they show them, and says where they\n" +
			"differ. Of equal ways each is right. Packets and bytes are what came in so far, where routers count.",
		Arguments: []commands.Argument{{Name: "node", Help: "node-ids; all when absent", Repeated: true, Complete: s.nodes}},
		Run:       s.runVerify}
}

func (s *Shell) runVerify(ctx context.Context, in *commands.Invocation) error {
	list, err := s.Inspector.Verify(ctx, in.Args["node"])
	if err != nil {
		return err
	}
	t := &commands.Table{Empty: "No router is mounted.", Columns: []commands.Column{{Title: "Node", Key: "node-id"}, {Title: "Result", Key: "result"},
		{Title: "Tables", Key: "tables", Right: true}, {Title: "Packets", Key: "packets", Right: true}, {Title: "Bytes", Key: "bytes", Right: true}, {Title: "What", Key: "reason"}}}
	different := 0
	for _, v := range list {
		packets, bytes := "", ""
		if v.Counted {
			packets, bytes = strconv.FormatUint(v.Packets, 10), strconv.FormatUint(v.Bytes, 10)
		}
		t.Add(v.Node, v.Result, v.Tables, packets, bytes, v.Reason)
		for i, d := range v.Differences {
			if i > 0 {
				t.Add(v.Node, "", "", "", "", d)
			}
		}
		if v.Result == operations.Different {
			different++
		}
	}
	if err := in.Emit(t, nil); err != nil {
		return err
	}
	if different > 0 {
		return fmt.Errorf("%d routers have other forwarding tables than computed", different)
	}
	return nil
}

func (s *Shell) ping() commands.Command {
	return commands.Command{Name: "bier:ping", Summary: "Ping the egress nodes of a channel over BIER", Safe: true,
		Help:      "Has the ingress router send packets over BIER, where its model can, and shows how many answers came beside\nthe state of each egress node.",
		Arguments: []commands.Argument{{Name: "channel", Help: "its name", Required: true}, {Name: "egress", Help: "node-ids; all when absent", Repeated: true, Complete: s.nodes}},
		Options: []commands.Option{{Name: "topology", Short: "t", Help: "topology-id; needed when several have the channel"},
			{Name: "count", Short: "c", Type: commands.Int, Default: "5", Help: "packets to each"}},
		Run: s.runPing}
}

func (s *Shell) runPing(ctx context.Context, in *commands.Invocation) error {
	count, _ := strconv.Atoi(in.Option("count")) // an invalid number is 0, which is refused
	list, err := s.Inspector.Ping(ctx, operations.PingIn{Topology: in.Option("topology"), Channel: in.Arg("channel"), Egress: in.Args["egress"], Count: count})
	if err != nil {
		return err
	}
	t := &commands.Table{Columns: []commands.Column{{Title: "Egress", Key: "node-id"}, {Title: "Sent", Key: "sent", Right: true}, {Title: "Received", Key: "received", Right: true},
		{Title: "State", Key: "state"}, {Title: "Reason", Key: "reason"}}}
	lost := 0
	for _, p := range list {
		t.Add(p.Node, p.Sent, p.Received, p.State, p.Reason)
		if p.Received < p.Sent {
			lost++
		}
	}
	if err := in.Emit(t, nil); err != nil {
		return err
	}
	if lost > 0 {
		return fmt.Errorf("%d of %d egress nodes did not answer all packets", lost, len(list))
	}
	return nil
}

func (s *Shell) alarmList() commands.Command {
	return commands.Command{Name: "bier:alarm-list", Summary: "List what is wrong in the network now", Safe: true,
		Help: "Shows routers that are not reached or refuse, what routers report, and channels that suffer from it.", Run: s.runAlarmList}
}

func (s *Shell) runAlarmList(ctx context.Context, in *commands.Invocation) error {
	list, err := s.Routers.Alarms(ctx)
	if err != nil {
		return err
	}
	t := &commands.Table{Empty: "There are no alarms.", Columns: []commands.Column{{Title: "Severity", Key: "severity"}, {Title: "Resource", Key: "resource"},
		{Title: "Alarm", Key: "alarm-type"}, {Title: "Raised", Key: "raised"}, {Title: "What", Key: "text", Max: 200}}}
	for _, a := range list {
		t.Add(a.Severity, a.Resource, a.Type, a.Raised.Format("2006-01-02 15:04:05"), a.Text)
	}
	return in.Emit(t, nil)
}

func (s *Shell) alarmClear() commands.Command {
	return commands.Command{Name: "bier:alarm-clear", Summary: "Forget what a router reported of the network",
		Help:      "Routers report a bfr-id-collision and the like, but not their end. They report it again when it is still there.",
		Arguments: []commands.Argument{{Name: "node", Help: "its node-id", Required: true, Complete: s.nodes}},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			return s.Routers.ClearNotices(ctx, in.Arg("node"))
		}}
}
