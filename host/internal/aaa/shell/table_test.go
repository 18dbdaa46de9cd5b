package shell_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/aaa/accounting"
	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/password"
	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// terminal types answers and remembers what was asked.
type terminal struct {
	answers []string
	asked   []string
	echoed  []bool
}

func (t *terminal) Prompt(_ context.Context, text string, echo bool) (string, error) {
	t.asked, t.echoed = append(t.asked, text), append(t.echoed, echo)
	if len(t.answers) == 0 {
		return "", fault.New(fault.Unavailable, "there is no terminal")
	}
	a := t.answers[0]
	t.answers = t.answers[1:]
	return a, nil
}

func (t *terminal) Progress(commands.Progress) {}

type lab struct {
	t     *testing.T
	table []commands.Command
	*aaa.AAA
}

func open(t *testing.T) *lab {
	t.Helper()
	store := storetest.New(storetest.Options{})
	t.Cleanup(func() { store.Close() })
	a, err := aaa.New(context.Background(), aaa.Options{
		Store: store, SecINI: []byte("[urls]\n/** = authcBasic\n"),
		First: identity.First{Admin: "admin", User: "user"}, Passwords: password.Params{MemoryKiB: 64, Time: 1, Threads: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &lab{t, a.Commands(), a}
}

// run runs a command; options are name, value, name, value.
func (l *lab) run(name string, options []string, answers ...string) (string, *terminal, error) {
	l.t.Helper()
	c, ok := commands.Find(l.table, name)
	if !ok {
		l.t.Fatalf("there is no command %s", name)
	}
	var out bytes.Buffer
	term := &terminal{answers: answers}
	in := &commands.Invocation{
		Name: name, Options: map[string]string{}, Format: "text", Stdin: strings.NewReader(""), Stdout: &out, Stderr: io.Discard,
		Caller: caller.Caller{User: "admin", Domain: "sdn", Roles: []string{"admin"}}, Terminal: term,
	}
	for i := 0; i < len(options); i += 2 {
		in.Options[options[i]] = options[i+1]
	}
	err := c.Run(context.Background(), in)
	return out.String(), term, err
}

func TestTheTwelveCommands(t *testing.T) {
	l := open(t)
	if len(l.table) != 12 {
		t.Errorf("%d commands, want twelve", len(l.table))
	}
	for _, c := range []struct {
		name    string
		options []string
		answers []string
		want    string
	}{
		{"aaa:add-role", []string{"name", "ops", "desc", "d"}, nil, "Role ops has been created, Role Id is ops@sdn\n"},
		{"aaa:add-user", []string{"name", "bob", "roleName", "ops", "userDescription", "d", "email", "b@x.org"}, []string{"password1"},
			"User bob has been created, User Id is bob@sdn and granted to role ops\n"},
		{"aaa:add-user", []string{"name", "eve"}, []string{"password1"}, "User eve has been created, User Id is eve@sdn\n"},
		{"aaa:get-users", nil, nil, "Users: \n  admin\n  bob\n  eve\n  user\n"},
		{"aaa:change-user-pwd", []string{"user", "bob"}, []string{"password1", "password2"}, "bob's password has been changed\n"},
		{"aaa:get-roles", nil, nil, "Roles: \n  admin\n  ops\n  user\n"},
		{"aaa:add-domain", []string{"name", "lab", "desc", "d"}, nil, "Domain lab has been created, Domain Id is lab\n"},
		{"aaa:get-domains", nil, []string{"admin", "admin"}, "Domains: \n  lab\n  sdn\n"},
		{"aaa:add-grant", []string{"userName", "eve", "domainName", "sdn", "roleName", "ops"}, nil, "Grant has been created, Grant id is eve@sdn@ops@sdn@sdn\n"},
		{"aaa:remove-grant", []string{"userName", "eve", "domainName", "sdn", "roleName", "ops"}, nil, "Grant has been deleted.\n"},
		{"aaa:remove-role", []string{"name", "ops"}, nil, "Role ops has been deleted.\n"},
		{"aaa:remove-domain", []string{"name", "lab"}, nil, "Domain lab has been deleted.\n"},
		{"aaa:remove-user", []string{"name", "bob"}, nil, "User bob has been deleted.\n"},
	} {
		got, term, err := l.run(c.name, c.options, c.answers...)
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.want)
		}
		if len(term.answers) != 0 {
			t.Errorf("%s asked only %q", c.name, term.asked)
		}
		for i, q := range term.asked {
			if strings.Contains(strings.ToLower(q), "password") == term.echoed[i] {
				t.Errorf("%s: %q echoes: %v", c.name, q, term.echoed[i])
			}
		}
	}
}

func TestFailures(t *testing.T) {
	l := open(t)
	for _, c := range []struct {
		name    string
		options []string
		answers []string
		kind    fault.Kind
	}{
		{"aaa:add-user", []string{"name", "bob"}, []string{"short"}, fault.Invalid},
		{"aaa:add-user", []string{"name", "bob", "roleName", "none"}, []string{"password1"}, fault.NotFound},
		{"aaa:add-user", []string{"name", "bob", "domainName", "none"}, []string{"password1"}, fault.NotFound},
		{"aaa:add-user", []string{"name", "admin"}, []string{"password1"}, fault.Exists},
		{"aaa:add-user", []string{"name", "bob"}, nil, fault.Unavailable},
		{"aaa:remove-user", []string{"name", "none"}, nil, fault.NotFound},
		{"aaa:remove-user", []string{"name", "admin"}, nil, fault.InUse},
		{"aaa:change-user-pwd", []string{"user", "user"}, []string{"wrong", "password2"}, fault.Denied},
		{"aaa:change-user-pwd", []string{"user", "user"}, []string{"user", "short"}, fault.Invalid},
		{"aaa:get-domains", nil, []string{"user", "user"}, fault.Denied},
		{"aaa:get-domains", nil, []string{"admin", "wrong"}, fault.Denied},
		{"aaa:remove-grant", []string{"userName", "user", "roleName", "admin"}, nil, fault.NotFound},
	} {
		if got, _, err := l.run(c.name, c.options, c.answers...); err == nil || fault.KindOf(err) != c.kind {
			t.Errorf("%s %v: %q, %v, want %v", c.name, c.options, got, err, c.kind)
		}
	}
	if got, _, _ := l.run("aaa:get-users", nil); got != "Users: \n  admin\n  user\n" {
		t.Errorf("a failed command left something: %s", got)
	}
	if _, _, err := l.run("aaa:get-domains", nil); err != nil {
		t.Errorf("without a terminal the session's role must do: %v", err)
	}
}

func TestWhoTypedItIsAuditedAndNamesAreCompleted(t *testing.T) {
	l := open(t)
	by := ""
	l.Accounting().Listen(func() bool { return true }, func(e accounting.Event) { by = e.User + " " + e.Action })
	if _, _, err := l.run("aaa:add-role", []string{"name", "ops"}); err != nil || by != "admin@sdn create role" {
		t.Errorf("audit %q, %v", by, err)
	}
	c, _ := commands.Find(l.table, "aaa:add-grant")
	for _, o := range c.Options {
		if got := o.Complete(context.Background(), ""); len(got) == 0 {
			t.Errorf("--%s completes nothing", o.Name)
		}
	}
	if got := c.Options[0].Complete(context.Background(), "us"); len(got) != 1 || got[0] != "user" {
		t.Errorf("completion of us: %q", got)
	}
}
