package aaa_test

import (
	"context"
	"strings"
	"testing"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/realm"
)

// folding is a directory that takes all spellings of a name for one.
type folding struct{ finding }

func (f *folding) Realm(context.Context, realm.Config) (realm.Realm, error) { return f, nil }

func (f *folding) Authenticate(ctx context.Context, c realm.Credentials) (realm.Result, error) {
	c.User = identity.Folded(c.User)
	return f.finding.Authenticate(ctx, c)
}

func (f *folding) Find(ctx context.Context, user, domain string) (realm.Result, error) {
	return f.finding.Find(ctx, identity.Folded(user), domain)
}

func withDirectory(t *testing.T, edit func(*aaa.Options)) *lab {
	t.Helper()
	ini := strings.Replace(defaultINI, "securityManager.realms = $tokenAuthRealm", "ldapRealm = CtlJndiLdapRealm\nsecurityManager.realms = $tokenAuthRealm, $ldapRealm", 1)
	return open(t, ini, edit)
}

// All spellings of a name that its realm takes for the same are one principal, with one allowance of tokens.
func TestSpellingsAreOnePrincipal(t *testing.T) {
	d := &folding{finding{directory{users: map[string]string{"ann@": "pw"}, roles: []string{"admin"}}, true}}
	l := withDirectory(t, func(o *aaa.Options) { o.Realms, o.TokensPerUser = d, 3 })
	for _, name := range []string{"ann", "ANN", "Ann"} {
		access, _ := l.login(name, "pw")
		in := object(t, l.want(200, "POST", "/oauth2/introspect", adm, "token="+access[7:]).body)
		if in["username"] != "ann" {
			t.Errorf("%s is %v", name, in["username"])
		}
	}
	l.want(429, "POST", "/oauth2/token", "", passwordForm+"aNN&password=pw")
}

// A subject of another realm that is blocked has no way in, by whatever it holds; one that is unblocked has.
func TestASubjectThatIsBlockedIsOut(t *testing.T) {
	for _, account := range []bool{true, false} {
		d := &folding{finding{directory{users: map[string]string{"ann@": "pw", "bob@": "pw"}, roles: []string{"admin"}}, account}}
		l := withDirectory(t, func(o *aaa.Options) { o.Realms = d })
		run := func(name, what string) error {
			t.Helper()
			c, ok := commands.Find(l.RealmCommands(), name)
			if !ok {
				t.Fatalf("there is no %s", name)
			}
			in := &commands.Invocation{Caller: caller.Caller{User: "admin", Domain: "sdn"}, Args: map[string][]string{}, Stdout: &strings.Builder{}}
			for _, a := range c.Arguments {
				in.Args[a.Name] = []string{what}
			}
			return c.Run(ctx, in)
		}
		bearer, _ := object(t, l.want(200, "POST", "/oauth2/token", "", passwordForm+"Ann&password=pw").body)["access_token"].(string)
		bearer = "bearer " + bearer
		l.want(200, "GET", modules, "Ann:pw", "")
		l.want(200, "GET", modules, bearer, "")
		console := l.Console()
		_, now, err := console.Password(ctx, "ANN", "pw", "")
		must(t, err)
		must(t, run("access:block", "ldapRealm/aNN"))
		l.want(401, "GET", modules, "Ann:pw", "")
		l.want(401, "GET", modules, "ann:pw", "")
		l.want(401, "GET", modules, bearer, "")
		l.want(401, "POST", "/web/login", "", `{"user": "ann", "password": "pw"}`)
		if _, err := now(ctx); fault.KindOf(err) != fault.Denied {
			t.Errorf("the console session goes on: %v", err)
		}
		l.want(200, "GET", modules, "bob:pw", "")
		must(t, run("access:blocked", ""))
		must(t, run("access:unblock", "ldapRealm/ann"))
		l.want(200, "GET", modules, "Ann:pw", "")
		l.want(200, "GET", modules, bearer, "")
		for what, kind := range map[string]fault.Kind{"ann": fault.Invalid, "tokenAuthRealm/ann": fault.NotFound, "otherRealm/ann": fault.NotFound, "ldapRealm/": fault.Invalid} {
			if err := run("access:block", what); fault.KindOf(err) != kind {
				t.Errorf("%s: %v", what, err)
			}
		}
		if err := run("access:unblock", "ldapRealm/ann"); fault.KindOf(err) != fault.NotFound {
			t.Errorf("unblocked twice: %v", err)
		}
	}
}
