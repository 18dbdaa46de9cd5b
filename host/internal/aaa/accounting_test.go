package aaa_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/aaa/accounting"
)

func always() bool { return true }

func listen(into *[]string) func(accounting.Event) {
	return func(e accounting.Event) {
		if e.Kind == "change" {
			*into = append(*into, "change "+e.Action+" "+e.Object+" by "+e.User)
		}
	}
}

// ledger holds what is logged, by logger; only the loggers named are at DEBUG.
type ledger struct {
	bytes.Buffer
	debug  string
	silent bool // nothing passes any level
}

func (g *ledger) logger(name string) *slog.Logger {
	level := slog.LevelInfo
	if g.silent {
		level = slog.Level(100)
	}
	if name == g.debug {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(&g.Buffer, &slog.HandlerOptions{Level: level})).With("logger", name)
}

func TestLoginsAreSilentUntilAskedFor(t *testing.T) {
	for _, debug := range []string{"", "org.ctl.aaa.sec.filters.AuthenticationListener"} {
		g := &ledger{debug: debug}
		l := open(t, defaultINI, func(o *aaa.Options) {
			o.Logger = g.logger
		})
		l.want(200, "GET", "/x", adm, "")
		l.want(401, "GET", "/x", "eve\x1b[31m\nforged=line:hunter2secret", "")
		text := g.String()
		if strings.Contains(text, "hunter2secret") || strings.Contains(text, "\x1b") || strings.Contains(text, "\nforged") {
			t.Errorf("a secret or a forged line is in the log:\n%s", text)
		}
		good, bad := strings.Contains(text, "Successful authentication attempt by admin from 127.0.0.1:"), strings.Contains(text, "Unsuccessful authentication attempt by eve")
		if want := debug != ""; good != want || bad != want {
			t.Errorf("debug %q: success logged %v, failure logged %v\n%s", debug, good, bad, text)
		}
		if debug != "" && (!strings.Contains(text, "realm=tokenAuthRealm") || !strings.Contains(text, "request=")) {
			t.Errorf("realm or request is missing:\n%s", text)
		}
	}
}

func TestAuditIsAlwaysOn(t *testing.T) {
	g := &ledger{silent: true}
	l := open(t, defaultINI, func(o *aaa.Options) { o.Logger = g.logger })
	l.user("bob", "user")
	l.token("bob", "password1")
	l.want(200, "PUT", "/auth/v1/users/bob@sdn", adm, `{"password":"password2"}`)
	l.want(204, "DELETE", "/auth/v1/users/bob@sdn", adm, "")
	for _, want := range []string{"create user", "object=bob@sdn user=admin@sdn", "create grant", "issue token", "user=bob@sdn", "update user", "delete user"} {
		if !strings.Contains(g.String(), want) {
			t.Errorf("the audit lacks %q:\n%s", want, g.String())
		}
	}
	if strings.Contains(g.String(), "password1") {
		t.Error("a password is in the audit or the log")
	}
}
