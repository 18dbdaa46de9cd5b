package shell

import (
	"context"
	"fmt"
	"strings"

	"ctl.internal/sdk/commands"
)

func (s *Shell) sessionList() commands.Command {
	return commands.Command{Name: "bier:session-list", Summary: "List the routers with their sessions", Safe: true,
		Help: "Shows each mounted router: its session, its driver, and whether it holds what it must hold.", Run: s.runSessionList}
}

func (s *Shell) runSessionList(_ context.Context, in *commands.Invocation) error {
	t := &commands.Table{Empty: "No router is mounted; bier:router-add mounts one.", Columns: []commands.Column{
		{Title: "Node", Key: "node-id"}, {Title: "Address", Key: "address"}, {Title: "Session", Key: "session"}, {Title: "Since", Key: "since"},
		{Title: "Driver", Key: "driver"}, {Title: "Dialect", Key: "dialect"}, {Title: "Configuration", Key: "state"}, {Title: "Reason", Key: "reason", Max: 100}}}
	for _, node := range s.Mounts.Nodes() {
		r, x, st := s.Mounts.Get(node), s.Session(node), s.Engine.States([]string{node})[0]
		if r == nil {
			continue
		}
		session := "none"
		if x != nil {
			session = strings.ToLower(strings.TrimPrefix(x.State.String(), "STATE_"))
		}
		since := ""
		if x.GetSince() != nil {
			since = x.GetSince().AsTime().UTC().Format("2006-01-02 15:04:05")
		}
		address := r.Host
		if r.Port != 0 {
			address = fmt.Sprintf("%s:%d", r.Host, r.Port)
		}
		reason := st.Reason
		if reason == "" {
			reason = x.GetReason()
		}
		t.Add(node, address, session, since, st.Driver, x.GetDialect(), st.State, reason)
	}
	return in.Emit(t, nil)
}
