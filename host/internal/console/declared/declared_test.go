package declared

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"ctl.internal/internal/yang"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

const module = `module lab {
  yang-version 1.1;
  namespace "urn:lab";
  prefix lab;
  import ctl-schema { prefix ctl; }
  container hosts { list host { key name; leaf name { type string; } } }
  rpc list {
    ctl:read-only; ctl:command hosts;
    description "Shows the hosts. Those that are off, too.";
    output { list host {
      ctl:title Hosts;
      leaf seen { type uint32; units seconds; ctl:format age; ctl:column 3; ctl:title Seen; }
      leaf name { type string; ctl:column 1; ctl:title Host; }
      leaf mac { type string; ctl:column 2; ctl:title MAC; ctl:format mac; }
      leaf note { type string; }
    } }
  }
  rpc restart {
    ctl:command "lab:restart"; ctl:confirm "Restart it?"; ctl:title "Restart a host";
    input {
      leaf host { ctl:argument 1; mandatory true; type leafref { path "/lab:hosts/lab:host/lab:name"; } description "The host."; }
      leaf mode { ctl:argument 2; type enumeration { enum warm; enum cold; } }
      leaf after { type uint8 { range "1..60"; } units seconds; default 5; description "When."; }
      leaf force { type boolean; }
      leaf now { type empty; }
      leaf-list tag { type string { length "1..4"; } }
      container where { leaf room { type string; } }
      leaf pin { ctl:secret; type string; }
      container login { leaf code { ctl:secret; type string; } }
    }
    output { leaf state { type string; ctl:title State; } leaf power { type uint32; units W; } }
  }
  rpc hidden { }
}`

// bench is the commands of the module, and what was called with which input.
type bench struct {
	table  []commands.Command
	called []string
	output string
	answer string
	err    error
}

func newBench(t *testing.T) *bench {
	t.Helper()
	set, err := yang.Load(yang.Source{Name: "lab", Files: map[string][]byte{"lab.yang": []byte(module)}})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{answer: "yes"}
	b.table = Commands(set.Module("lab"), Host{
		Call: func(_ context.Context, r *yang.RPC, input []byte) ([]byte, error) {
			b.called = append(b.called, r.Name+" "+string(input))
			return []byte(b.output), b.err
		},
		Values: func(_ context.Context, leaf *yang.Node) []string { return []string{"of " + leaf.QName()} },
	})
	return b
}

// asker answers questions.
type asker struct{ answer string }

func (a asker) Prompt(context.Context, string, bool) (string, error) { return a.answer, nil }
func (asker) Progress(commands.Progress)                             {}

// run runs a command with arguments and options as the console binds them.
func (b *bench) run(name string, args map[string][]string, options map[string]string, format string) (string, error) {
	c, ok := commands.Find(b.table, name)
	if !ok {
		return "", errors.New("no such command")
	}
	var out bytes.Buffer
	err := c.Run(context.Background(), &commands.Invocation{
		Name: name, Args: args, Options: options, Format: format, Stdout: &out, Terminal: asker{b.answer},
	})
	return out.String(), err
}

func TestTheModuleSaysWhatTheCommandIs(t *testing.T) {
	b := newBench(t)
	if len(b.table) != 2 {
		t.Fatalf("%d commands", len(b.table))
	}
	list, _ := commands.Find(b.table, "lab:hosts")
	if !list.Safe || list.Summary != "shows the hosts" || !strings.Contains(list.Help, "Example: lab:hosts") {
		t.Errorf("%+v", list)
	}
	restart, _ := commands.Find(b.table, "lab:restart")
	if restart.Safe || restart.Summary != "restart a host" || !strings.Contains(restart.Help, "Example: lab:restart my-host warm") {
		t.Errorf("%+v", restart)
	}
	if a := restart.Arguments; len(a) != 2 || !a[0].Required || a[1].Required || !slices.Equal(a[1].Values, []string{"warm", "cold"}) {
		t.Errorf("arguments: %+v", a)
	}
	if got := restart.Arguments[0].Complete(t.Context(), ""); !slices.Equal(got, []string{"of lab:name"}) {
		t.Errorf("completion: %v", got)
	}
	var options []string
	for _, o := range restart.Options {
		options = append(options, o.Name+" "+string(o.Type)+" "+o.Help)
		if secret := o.Name == "pin" || o.Name == "login"; o.Secret != secret {
			t.Errorf("--%s is secret: %t", o.Name, o.Secret)
		}
	}
	if got, want := strings.Join(options, "\n"), `after  When (in seconds; 1..60; 5 when not given)
force bool of the input force
now bool of the input now
tag  of the input tag (several: separated by commas in an option)
where  of the input where (as JSON)
pin  of the input pin (secret)
login  of the input login (as JSON)
yes bool do not ask: Restart it?`; got != want {
		t.Errorf("options:\n%s\nwant\n%s", got, want)
	}
}

func TestWhatIsTypedIsTheInput(t *testing.T) {
	b := newBench(t)
	b.output = `{"state":"up","power":7}`
	out, err := b.run("lab:restart", map[string][]string{"host": {"a"}, "mode": {"cold"}},
		map[string]string{"after": "9", "force": "false", "now": "true", "tag": "x,y", "where": `{"room":"1"}`}, "text")
	if err != nil || out != "State: up\npower: 7 W\n" {
		t.Errorf("%q %v", out, err)
	}
	const want = `restart {"host":"a","mode":"cold","after":9,"force":false,"now":[null],"tag":["x","y"],"where":{"room":"1"}}`
	if len(b.called) != 1 || sorted(b.called[0]) != sorted(want) {
		t.Errorf("called %q, want %q", b.called, want)
	}
	if out, err = b.run("lab:restart", map[string][]string{"host": {"a"}}, map[string]string{"yes": "true"}, "json"); err != nil ||
		!strings.Contains(out, `"power": 7`) {
		t.Errorf("%q %v", out, err)
	}
}

// What a device has written does not reach the cursor or the colours of the terminal, nor looks like a line of its own.
func TestValuesAreOneLineEach(t *testing.T) {
	b := newBench(t)
	b.output = `{"state":"up\u001b[2J\r\nSecret: none\u009b31m","power":7}`
	out, err := b.run("lab:restart", map[string][]string{"host": {"a"}}, nil, "text")
	if err != nil || out != "State: up [2J  Secret: none 31m\npower: 7 W\n" {
		t.Errorf("%q %v", out, err)
	}
}

// sorted are the bytes of a text in their order: members of an object may have any.
func sorted(text string) string {
	b := []byte(text)
	slices.Sort(b)
	return string(b)
}

func TestWrongInputNamesTheArgument(t *testing.T) {
	b := newBench(t)
	for _, one := range []struct {
		args    map[string][]string
		options map[string]string
		want    string
	}{
		{map[string][]string{"host": {"a"}, "mode": {"hot"}}, nil, "lab:restart: the argument mode: "},
		{map[string][]string{"host": {"a"}}, map[string]string{"after": "99"}, "lab:restart: the option --after: "},
		{map[string][]string{"host": {"a"}}, map[string]string{"tag": "x,longer"}, "lab:restart: the option --tag: "},
		{map[string][]string{"host": {"a"}}, map[string]string{"where": "{"}, "lab:restart: the option --where: "},
		{map[string][]string{"host": {"a"}}, map[string]string{"where": `{"rom":"1"}`}, "lab:restart: the option --where: "},
	} {
		if _, err := b.run("lab:restart", one.args, one.options, "text"); err == nil || !strings.HasPrefix(err.Error(), one.want) {
			t.Errorf("%v %v: %v, want %s", one.args, one.options, err, one.want)
		}
	}
	if len(b.called) > 0 {
		t.Errorf("called: %v", b.called)
	}
}

func TestNothingIsDoneWithoutYes(t *testing.T) {
	b := newBench(t)
	b.answer = "no"
	if _, err := b.run("lab:restart", map[string][]string{"host": {"a"}}, nil, "text"); fault.KindOf(err) != fault.Invalid || len(b.called) > 0 {
		t.Errorf("%v, called %v", err, b.called)
	}
	b.answer = "Yes"
	b.err = fault.New(fault.NotFound, "no host a")
	if _, err := b.run("lab:restart", map[string][]string{"host": {"a"}}, nil, "text"); fault.KindOf(err) != fault.NotFound || len(b.called) != 1 {
		t.Errorf("%v, called %v", err, b.called)
	}
}

func TestListsAreTables(t *testing.T) {
	b := newBench(t)
	b.output = `{"host":[{"name":"a","mac":"00-1A-2B-3C-4D-5E","seen":3700,"note":"x"},{"name":"b"}]}`
	for format, want := range map[string]string{
		"text": "Host | MAC               | Seen\n-----+-------------------+-----\na    | 00:1a:2b:3c:4d:5e | 1h1m\nb    |                   |     \n",
		"json": "[\n  {\n    \"name\": \"a\",\n    \"mac\": \"00-1A-2B-3C-4D-5E\",\n    \"seen\": 3700\n  },\n  {\n    \"name\": \"b\"\n  }\n]\n",
	} {
		if out, err := b.run("lab:hosts", nil, nil, format); err != nil || out != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", format, err, out, want)
		}
	}
	for format, want := range map[string]string{"text": "No entries\n", "json": "[]\n"} {
		for _, b.output = range []string{"", "{}"} {
			if out, err := b.run("lab:hosts", nil, nil, format); err != nil || out != want {
				t.Errorf("%s of %q: %q %v", format, b.output, out, err)
			}
		}
	}
}
