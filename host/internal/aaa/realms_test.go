package aaa_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// typist answers every prompt with one text.
type typist string

func (t typist) Prompt(context.Context, string, bool) (string, error) { return string(t), nil }
func (typist) Progress(commands.Progress)                             {}

func realmCommand(t *testing.T, l *lab, name, user, password string) (string, error) {
	t.Helper()
	c, ok := commands.Find(l.RealmCommands(), name)
	if !ok {
		t.Fatalf("no command %s", name)
	}
	var out bytes.Buffer
	err := c.Run(ctx, &commands.Invocation{Args: map[string][]string{"user": {user}}, Stdout: &out, Terminal: typist(password)})
	return out.String(), err
}

const twoRealmsINI = `[main]
tokenAuthRealm = TokenAuthRealm
ldapRealm = org.ctl.aaa.sec.realm.CtlJndiLdapRealm
ldapRealm.timeout = 700
securityManager.realms = $tokenAuthRealm, $ldapRealm
[urls]
/** = authcBasic
`

func TestTheConsoleTellsWhichRealmAnsweredWhat(t *testing.T) {
	d := &directory{users: map[string]string{"admin@": "leaf-pw"}, roles: []string{"reader"}}
	l := open(t, twoRealmsINI, func(o *aaa.Options) { o.Realms = d })
	list, err := realmCommand(t, l, "realm:list", "", "")
	if err != nil || strings.Index(list, "tokenAuthRealm") > strings.Index(list, "CtlJndiLdapRealm") || !strings.Contains(list, "700ms") {
		t.Errorf("%v\n%s", err, list)
	}
	for password, want := range map[string][]string{
		"admin":   {"tokenAuthRealm | authenticated", "ldapRealm      | unknown", "decided by tokenAuthRealm"},
		"leaf-pw": {"tokenAuthRealm | unknown", "reader", "decided by ldapRealm"},
		"nobodys": {"decided by no realm"},
	} {
		out, err := realmCommand(t, l, "realm:test", "admin", password)
		for _, w := range want {
			if err != nil || !strings.Contains(out, w) {
				t.Errorf("%v; %q is not in\n%s", err, w, out)
			}
		}
		if password != "admin" && strings.Contains(out, password) {
			t.Errorf("the password is shown:\n%s", out)
		}
	}
	var rows []struct{ Roles []string }
	var out bytes.Buffer
	c, _ := commands.Find(l.RealmCommands(), "realm:test")
	err = c.Run(ctx, &commands.Invocation{Args: map[string][]string{"user": {"admin"}}, Stdout: &out, Terminal: typist("leaf-pw"), Format: "json"})
	if err == nil {
		err = json.Unmarshal(out.Bytes(), &rows)
	}
	if err != nil || len(rows) != 2 || rows[0].Roles == nil || len(rows[0].Roles) != 0 || !slices.Equal(rows[1].Roles, d.roles) {
		t.Errorf("%v\n%s", err, &out)
	}
	if _, err := realmCommand(t, l, "realm:test", "admin", ""); fault.KindOf(err) != fault.Invalid {
		t.Errorf("an empty password: %v", err)
	}
}

func TestAnUnavailableRealmIsToldOnceAndWhenItIsBack(t *testing.T) {
	var log bytes.Buffer
	d := &directory{down: true}
	l := open(t, twoRealmsINI, func(o *aaa.Options) {
		o.Realms = d
		o.Logger = func(string) *slog.Logger { return slog.New(slog.NewTextHandler(&log, nil)) }
	})
	for range 3 {
		l.want(503, "GET", modules, "far:pw", "") // whether it is right is not known
		l.want(200, "GET", modules, adm, "")      // users of other realms notice nothing
	}
	d.down, d.users = false, map[string]string{"far@": "pw"}
	l.want(200, "GET", modules, "far:pw", "")
	if n := strings.Count(log.String(), "a realm cannot be asked"); n != 1 || !strings.Contains(log.String(), "the realm answers again") {
		t.Errorf("logged %d times:\n%s", n, log.String())
	}
}
