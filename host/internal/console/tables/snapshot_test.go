package tables

import (
	"bytes"
	"context"
	"io"
	"testing"

	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// A snapshot holds all secrets: no user gets one over SSH, whatever his name and role.
func TestASnapshotIsForTheOperatorAtTheMachine(t *testing.T) {
	command := SnapshotCommands(func(_ context.Context, w io.Writer, _ func(done, total int64)) error {
		_, err := w.Write([]byte("archive"))
		return err
	})[0]
	for name, c := range map[string]struct {
		who   caller.Caller
		width int
		want  fault.Kind
		out   string
	}{
		"ctl":          {caller.Caller{User: "local", Domain: "sdn", Roles: []string{"admin"}}, 0, 0, "archive"},
		"a terminal":   {caller.Caller{User: "local", Domain: "sdn", Roles: []string{"admin"}}, 80, fault.Invalid, ""},
		"an admin":     {caller.Caller{User: "admin", Domain: "sdn", Roles: []string{"admin"}, Address: "192.0.2.1:5"}, 0, fault.Denied, ""},
		"a false name": {caller.Caller{User: "local", Domain: "sdn", Roles: []string{"admin"}, Address: "192.0.2.1:5"}, 0, fault.Denied, ""},
	} {
		var out bytes.Buffer
		err := command.Run(t.Context(), &commands.Invocation{Name: command.Name, Caller: c.who, Width: c.width, Stdout: &out, Stderr: io.Discard})
		if out.String() != c.out || (err == nil) != (c.out != "") || err != nil && fault.KindOf(err) != c.want {
			t.Errorf("%s: %q, %v", name, out.String(), err)
		}
	}
}
