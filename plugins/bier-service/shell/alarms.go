package shell

import (
	"context"

	"ctl.internal/sdk/commands"
)

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
