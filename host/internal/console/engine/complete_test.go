package engine

import (
	"context"
	"testing"

	"ctl.internal/sdk/commands"
)

func TestComplete(t *testing.T) {
	s := newTestSession(nil)
	run(t, s, "alias fast='feature:list'", "")
	for _, c := range []struct {
		line  string
		start int
		want  string
	}{
		{"fea", 0, "[feature:info feature:install feature:list]"},
		{"fa", 0, "[fast]"},
		{"feature:in", 0, "[feature:info feature:install]"},
		{"l", 0, "[log:set]"},
		{"feature:install ", 16, "[ctl-bier ctl-switch with blank]"},
		{"feature:install ctl-bier c", 25, "[ctl-switch]"},
		{"feature:install zz", 16, "[]"},
		{"feature:install 'with", 16, "[with blank]"},
		{"log:set D", 8, "[DEBUG]"},
		{"feature:list -", 13, "[--installed --required --format --help]"},
		{"feature:list -i --r", 16, "[--required]"},
		{"feature:list -i ", 16, "[--required --format --help]"},
		{"feature:list --format ", 22, "[json text]"},
		{"test:rows --c", 10, "[--columns]"},
		{"test:rows --format ", 19, "[csv json table text yaml]"},
		{"test:rows --columns n", 20, "[name]"},
		{"test:rows --columns=size,", 10, "[--columns=size,name]"},
		{"test:rows --sort name --where ", 30, "[name size]"},
		{"test:text --columns ", 20, "[]"},
		{"aaa:add-user --kind=g", 13, "[--kind=green]"},
		{"aaa:add-user -na", 13, "[-name]"},
		{"aaa:add-user --name x --kind ", 29, "[green red]"},
		{"echo a; feature:li", 8, "[feature:list]"},
		{"feature:list | gr", 15, "[grep]"},
		{"feature:list | grep -", 20, "[--ignore-case --invert-match --line-number --count --fixed-strings --extended-regexp --format --help]"},
		{"help feature:ins", 5, "[feature:install]"},
		{"nonsense x", 9, "[]"},
		{"unalias ", 8, "[fast]"},
	} {
		got := s.Complete(context.Background(), c.line)
		if names(got) != c.want || got.Start != c.start {
			t.Errorf("%q: got %d %s, want %d %s", c.line, got.Start, names(got), c.start, c.want)
		}
	}
	run(t, s, "feature", "")
	if got := names(s.Complete(context.Background(), "inst")); got != "[install]" || s.Prompt() != "admin@ctl(feature)> " {
		t.Errorf("in the subshell: %s, prompt %q", got, s.Prompt())
	}
}

// A completer that panics or never answers costs nothing but its candidates.
func TestCompleteSurvivesBadCompleters(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	bad := []commands.Command{
		{Name: "bad:panic", Arguments: []commands.Argument{{Name: "name", Complete: func(context.Context, string) []string { panic("x") }}}},
		{Name: "bad:hang", Arguments: []commands.Argument{{Name: "name", Values: []string{"fixed"}, Complete: func(context.Context, string) []string {
			<-release
			return nil
		}}}},
	}
	s := newTestSession(func(c *Config) { c.Sources = []Source{Static(bad)} })
	ctx, cancel := context.WithCancel(context.Background())
	if got := names(s.Complete(ctx, "bad:panic ")); got != "[]" {
		t.Errorf("got %s", got)
	}
	cancel()
	if got := names(s.Complete(ctx, "bad:hang ")); got != "[fixed]" {
		t.Errorf("got %s", got)
	}
}

func TestSensitive(t *testing.T) {
	s := newTestSession(nil)
	for line, want := range map[string]bool{
		"aaa:add-user --name x":                 false,
		"aaa:add-user --name x --password y":    true,
		"aaa:add-user --name x -pass y":         true,
		"aaa:add-user --name x --password=y":    true,
		"aaa:add-user --name x -z":              false,
		"echo a; aaa:add-user -PASSWORD y | wc": true,
		"unknown:cmd -snmpCommunity public":     true,
		"unknown:cmd --trustKeystorePwd 'x":     true,
		"test:set-key a":                        false,
		"test:set-key a b":                      true,
		"test:pin a":                            false,
		"test:pin a b":                          true,
		"test:pin a --code b":                   true,
		"test:pin a --code=b":                   true,
		"aaa:add-user --name x --pasword y":     true,
		"aaa:add-user --nmae x":                 false,
		"feature:list --instaled":               false,
		"feature:list --passwords":              true,
		"watch aaa:add-user --password y":       true,
		"watch 'aaa:add-user --password y'":     true,
		"alias add='aaa:add-user --password y'": true,
		"log:set INFO password":                 false,
		"test:lines | grep password":            false,
	} {
		if got := s.Sensitive(line); got != want {
			t.Errorf("%q: got %v", line, got)
		}
	}
}

func FuzzSession(f *testing.F) {
	for _, s := range []string{"aaa:add-user --name x -pass", "feature:list | grep -c x", "alias a='b $args'; a 'c", "help -x", "-- | ''"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		s := newTestSession(func(c *Config) { c.Sources = []Source{Static(testTable()[:8])} })
		s.Sensitive(line)
		s.Complete(context.Background(), line)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		run := IO{Stdout: discard{}, Stderr: discard{}}
		s.Run(ctx, line, run)
	})
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
