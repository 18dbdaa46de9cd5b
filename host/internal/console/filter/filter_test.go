package filter

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"ctl.internal/internal/console"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// apply runs a filter; options are "name=value".
func apply(t *testing.T, name, in string, args []string, options ...string) (string, error) {
	t.Helper()
	c, ok := commands.Find(Commands("shell"), "shell:"+name)
	if !ok {
		t.Fatalf("no filter %s", name)
	}
	inv := &commands.Invocation{Name: name, Format: "text", Options: map[string]string{}, Args: map[string][]string{}, Stdin: strings.NewReader(in)}
	for _, o := range c.Options {
		if o.Default != "" {
			inv.Options[o.Name] = o.Default
		}
	}
	for _, o := range options {
		k, v, _ := strings.Cut(o, "=")
		if v == "" {
			v = "true"
		}
		inv.Options[k] = v
	}
	for i, a := range args {
		inv.Args[c.Arguments[i].Name] = []string{a}
	}
	var out bytes.Buffer
	inv.Stdout = &out
	err := c.Run(context.Background(), inv)
	return out.String(), err
}

func TestFilters(t *testing.T) {
	const text = "b 2\na 10\nb 2\nC 1\n"
	for _, c := range []struct {
		name    string
		in      string
		args    []string
		options []string
		want    string
	}{
		{"grep", text, []string{"b"}, nil, "b 2\nb 2\n"},
		{"grep", text, []string{"c"}, []string{"ignore-case"}, "C 1\n"},
		{"grep", text, []string{"b"}, []string{"invert-match", "line-number"}, "2:a 10\n4:C 1\n"},
		{"grep", text, []string{"^b"}, []string{"count"}, "2\n"},
		{"grep", "a.c\nabc\n", []string{"a.c"}, []string{"fixed-strings"}, "a.c\n"},
		{"grep", "a.C\n", []string{"A.c"}, []string{"fixed-strings", "ignore-case"}, "a.C\n"},
		{"grep", "no end", []string{"end"}, nil, "no end\n"},
		{"head", text, nil, []string{"lines=2"}, "b 2\na 10\n"},
		{"head", text, nil, []string{"lines=0"}, ""},
		{"tail", text, nil, []string{"lines=1"}, "C 1\n"},
		{"tail", text, nil, []string{"lines=0"}, ""},
		{"tail", text, nil, nil, text},
		{"tail", strings.Repeat("x\n", 5000) + "end\n", nil, []string{"lines=2"}, "x\nend\n"},
		{"tac", text, nil, nil, "C 1\nb 2\na 10\nb 2\n"},
		{"sort", text, nil, nil, "C 1\na 10\nb 2\nb 2\n"},
		{"sort", text, nil, []string{"unique", "reverse"}, "b 2\na 10\nC 1\n"},
		{"sort", "10\n9 x\n-1\n1.5\nnone\n", nil, []string{"numeric"}, "-1\nnone\n1.5\n9 x\n10\n"},
		{"uniq", "a\na\nb\na\n", nil, nil, "a\nb\na\n"},
		{"uniq", "a\na\nb\n", nil, []string{"count"}, "      2 a\n      1 b\n"},
		{"uniq", "", nil, nil, ""},
		{"uniq", "\n\n", nil, nil, "\n"},
		{"wc", "é b\nc\n", nil, nil, "      2       3       6\n"},
		{"wc", text, nil, []string{"lines"}, "4\n"},
		{"wc", text, nil, []string{"words", "chars"}, "8 17\n"},
		{"cut", "a b  c\n", nil, []string{"fields=1,3"}, "a\tc\n"},
		{"cut", "a:b\n", nil, []string{"fields=2", "delimiter=:"}, "b\n"},
		{"cut", "Name | State\n-----+------\nx    | up\n", nil, []string{"fields=2"}, "State\n------\nup\n"},
		{"cut", "a\n", nil, []string{"fields=9"}, "\n"},
		{"more", text, nil, nil, text},
	} {
		t.Run(c.name+" "+strings.Join(c.options, " "), func(t *testing.T) {
			if got, err := apply(t, c.name, c.in, c.args, c.options...); err != nil || got != c.want {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestFilterFaults(t *testing.T) {
	for _, c := range []struct {
		name, in string
		args     []string
		options  []string
		want     fault.Kind
	}{
		{"grep", "", []string{"["}, nil, fault.Invalid},
		{"head", "", nil, []string{"lines=-1"}, fault.Invalid},
		{"tail", "", nil, []string{"lines=1000001"}, fault.Invalid},
		{"cut", "", nil, []string{"fields=0"}, fault.Invalid},
		{"tac", strings.Repeat("x", maxLine+1), nil, nil, fault.TooBig},
	} {
		if _, err := apply(t, c.name, c.in, c.args, c.options...); err == nil || fault.KindOf(err) != c.want {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := apply(t, "grep", "a\n", []string{"b"}); !errors.Is(err, console.Silent(console.Failed)) {
		t.Errorf("grep without a hit: %v", err)
	}
}
