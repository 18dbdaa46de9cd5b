package service

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/operations"
)

// undoRPCs registers the RPCs of module switch-undo.
func (s *Service) undoRPCs(m operations.Mux) {
	registerHandler(m, "switch-undo:get-undoable", s.getUndoable)
	registerHandler(m, "switch-undo:undo", s.undo)
}

type undoableIn struct {
	Switch string `json:"switch"`
	Limit  int    `json:"limit"`
}

// undoable is a change that can be taken back.
type undoable struct {
	Operation string `json:"operation"`
	Begun     string `json:"begun"`
	By        string `json:"by,omitempty"`
	ofSwitch
	Change   string `json:"change"`
	UndoneBy string `json:"undone-by,omitempty"`
}

type undoableOut struct {
	Entries []undoable `json:"entry"`
}

func (s *Service) getUndoable(_ context.Context, in undoableIn) (*undoableOut, error) {
	node := mib.MAC(0)
	if in.Switch != "" {
		sw, err := s.findNamedSwitch(in.Switch)
		if err != nil {
			return nil, err
		}
		node = mib.MAC(sw.NodeId)
	}
	out := &undoableOut{Entries: []undoable{}}
	for _, r := range s.writer.Done("") {
		if node != 0 && mib.MAC(r.Node) != node {
			continue
		}
		if len(out.Entries) == cmp.Or(in.Limit, 100) {
			break
		}
		out.Entries = append(out.Entries, undoable{
			Operation: r.ID,
			Begun:     r.Begun.Format(time.RFC3339),
			By:        r.By,
			ofSwitch:  s.switchIdentity(mib.MAC(r.Node)),
			Change:    r.What(),
			UndoneBy:  r.UndoneBy,
		})
	}
	return out, nil
}

type undoIn struct {
	Operation string `json:"operation"`
	Force     bool   `json:"force"`
}

type undoOut struct {
	Operation string   `json:"operation,omitempty"`
	Left      []string `json:"left,omitempty"`
}

// undo takes back a change.
func (s *Service) undo(ctx context.Context, in undoIn) (*undoOut, error) {
	r, err := s.writer.FindDone(in.Operation)
	if err != nil {
		return nil, err
	}
	sw, err := s.findSwitch(r.Node)
	if err != nil {
		return nil, fault.At(fault.NotFound, "operation", "%v", err)
	}
	id, lines, err := s.writer.DoRecorded(ctx, sw, undoOperation(&r, in.Force))
	if err != nil {
		return nil, err
	}
	if slices.Contains(lines, writes.NothingShows) {
		return &undoOut{Left: lines}, nil
	}
	return &undoOut{Operation: id, Left: lines}, nil
}

// undoOperation is the operation that takes back a change.
func undoOperation(r *writes.Record, force bool) writes.Operation {
	what, again := strings.CutPrefix(r.What(), "undoing ")
	if again {
		what = "redoing " + what
	} else {
		what = "undoing " + what
	}
	return writes.Operation{What: what, Undo: r.ID, Force: force, Group: r.Operation.Group}
}

func (s *Service) cmdUndo() commands.Command {
	return commands.Command{
		Name:    "switch:undo",
		Summary: "Take back a change of a switch, or list the changes that can be taken back",
		Help: "What still shows what the change left is made as it was before, and read back. What somebody else has changed\n" +
			"since stays as it is and is named; --force overwrites it. An undo is a change itself: it can be undone.\n\n" +
			"Example: switch:undo\n         switch:undo 20261128T080000.000000000-ABCD",
		Arguments: []commands.Argument{{
			Name:     "operation",
			Help:     "the change; without it those that can be taken back are listed",
			Complete: s.completeUndoable,
		}},
		Options: []commands.Option{{
			Name: "force",
			Type: commands.Bool,
			Help: "also what was changed since",
		}},
		Run: s.runUndo,
	}
}

func (s *Service) runUndo(ctx context.Context, in *commands.Invocation) error {
	if in.Arg("operation") == "" {
		list, err := s.getUndoable(ctx, undoableIn{Limit: 100})
		if err != nil {
			return err
		}
		return in.Emit(undoTable(list), nil)
	}
	out, err := s.undo(ctx, undoIn{in.Arg("operation"), in.Flag("force")})
	if err != nil {
		return err
	}
	return in.Emit(out, func() string {
		text := "Nothing was taken back:\n"
		if out.Operation != "" {
			text = fmt.Sprintf("Taken back by operation %s.\n", out.Operation)
		}
		for _, line := range out.Left {
			text += "  " + line + "\n"
		}
		return text
	})
}

func undoTable(list *undoableOut) commands.Table {
	t := commands.Table{
		Empty: "There is no change that can be taken back.",
		Columns: []commands.Column{
			{Title: "Operation", Key: "operation"},
			{Title: "Begun", Key: "begun"},
			{Title: "By", Key: "by"},
			{Title: "Switch", Key: "switch"},
			{Title: "Change", Key: "change"},
			{Title: "Undone by", Key: "undone-by"},
		},
	}
	for _, e := range list.Entries {
		t.Add(e.Operation, e.Begun, e.By, e.Switch, e.Change, e.UndoneBy)
	}
	return t
}

func (s *Service) completeUndoable(_ context.Context, prefix string) []string {
	var out []string
	for _, r := range s.writer.Done("") {
		if len(out) < maxCompletions && strings.HasPrefix(r.ID, prefix) {
			out = append(out, r.ID)
		}
	}
	return out
}
