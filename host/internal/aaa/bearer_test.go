package aaa_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/realm"
)

// issuer is a realm of tokens, and the source of all outside realms.
type issuer struct {
	users    map[string]string // by token
	expires  time.Time
	property realm.Property
}

func (i *issuer) Realm(_ context.Context, c realm.Config) (realm.Realm, error) {
	i.property = c.Properties["expected-issuer"]
	return i, nil
}

func (i *issuer) Epoch(string) uint64 { return 0 }
func (i *issuer) Takes() []realm.Kind { return []realm.Kind{realm.Bearer} }
func (i *issuer) Close() error        { return nil }

func (i *issuer) Authenticate(_ context.Context, c realm.Credentials) (realm.Result, error) {
	user, known := i.users[c.Bearer]
	if !known {
		return realm.Result{}, nil
	}
	return realm.Result{
		Outcome:   realm.Authenticated,
		Principal: user,
		Roles:     []string{"operator"},
		Expires:   i.expires,
	}, nil
}

const jwtINI = `[main]
tokenAuthRealm = TokenAuthRealm
keycloak = BearerJwtRealm
keycloak.expected-issuer = https://127.0.0.1:8443/realms/lab
keycloak.role-map = "netops":"admin,user", "staff":"user"
securityManager.realms = $tokenAuthRealm, $keycloak
[urls]
/auth/v1/** = authcBasic, roles[admin]
/operator = authcBearer, roles[operator]
/** = authcBearer
`

func TestTokensOfAnIssuerStandBesideOurOwn(t *testing.T) {
	i := &issuer{users: map[string]string{"aaaa.bbbb.cccc": "admin"}}
	l := open(t, jwtINI, func(o *aaa.Options) { o.Realms = i })
	const foreign = "bearer aaaa.bbbb.cccc"
	got := l.want(200, "GET", "/operator", foreign, "")
	if got.body != "admin@keycloak operator" { // not the administrator of this controller
		t.Errorf("it is %q", got.body)
	}
	if i.property.Value != "https://127.0.0.1:8443/realms/lab" || i.property.Origin == "" {
		t.Errorf("the realm got %+v", i.property)
	}
	own, _ := l.login("admin", "admin")
	if got := l.want(200, "GET", "/x", own, ""); got.body != "admin@sdn admin,user" {
		t.Errorf("a token of our own is of %q", got.body)
	}
	l.want(401, "GET", "/operator", own, "")
	l.want(401, "GET", "/x", "bearer aaaa.bbbb.dddd", "")
	l.want(401, "GET", "/auth/v1/users", foreign, "")
	for token, want := range map[string]string{
		"aaaa.bbbb.cccc": "decided by keycloak",
		"aaaa.bbbb.dddd": "decided by no realm",
	} {
		out, err := l.testToken("", token)
		if err != nil || !strings.Contains(out, want) || strings.Contains(out, token) {
			t.Errorf("%v; %q is not in\n%s", err, want, out)
		}
	}
	if _, err := l.testToken("ann", "aaaa.bbbb.cccc"); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a name and a token: %v", err)
	}
	if _, err := l.testToken("", own[len("bearer "):]); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a token of our own: %v", err)
	}
	block, _ := commands.Find(l.RealmCommands(), "access:block")
	if err := block.Run(ctx, &commands.Invocation{Args: map[string][]string{"subject": {"keycloak/admin"}}, Format: "json", Stdout: &discard{}}); err != nil {
		t.Fatal(err)
	}
	l.want(401, "GET", "/operator", foreign, "")
	l.want(200, "GET", "/x", own, "") // of the user of that name here
}

// testToken runs realm:test --token.
func (l *lab) testToken(user, token string) (string, error) {
	c, _ := commands.Find(l.RealmCommands(), "realm:test")
	var out bytes.Buffer
	in := &commands.Invocation{
		Args:     map[string][]string{},
		Options:  map[string]string{"token": "true"},
		Stdout:   &out,
		Terminal: typist(token),
	}
	if user != "" {
		in.Args["user"] = []string{user}
	}
	err := c.Run(ctx, in)
	return out.String(), err
}

type discard struct{}

func (*discard) Write(b []byte) (int, error) { return len(b), nil }
