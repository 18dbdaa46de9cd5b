package realm_test

import (
	"context"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/realm"
)

// hostile is a plugin that answers as it is set up, and notes what it is asked.
type hostile struct {
	pluginv1.UnimplementedRealmServer
	takes  []pluginv1.CredentialKind
	answer *pluginv1.AuthenticateResponse
	asked  *pluginv1.AuthenticateRequest
}

func (h *hostile) ConfigureRealm(context.Context, *pluginv1.ConfigureRealmRequest) (*pluginv1.ConfigureRealmResponse, error) {
	return &pluginv1.ConfigureRealmResponse{Takes: h.takes}, nil
}

func (h *hostile) Authenticate(_ context.Context, r *pluginv1.AuthenticateRequest) (*pluginv1.AuthenticateResponse, error) {
	h.asked = r
	return h.answer, nil
}

func (h *hostile) FindUser(context.Context, *pluginv1.FindUserRequest) (*pluginv1.AuthenticateResponse, error) {
	return h.answer, nil
}

// dial serves on a connection in memory.
func dial(t *testing.T, register func(*grpc.Server)) *realm.Client {
	t.Helper()
	l := bufconn.Listen(1 << 16)
	s := grpc.NewServer()
	register(s)
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	conn, err := grpc.NewClient("passthrough:///realm", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close()
		s.Stop()
		<-done
	})
	return realm.NewClient(conn)
}

func TestAnAnswerThatCannotBeUsedLetsNobodyIn(t *testing.T) {
	h := &hostile{}
	c := dial(t, func(s *grpc.Server) { pluginv1.RegisterRealmServer(s, h) })
	ok := pluginv1.AuthenticateResponse_OUTCOME_AUTHENTICATED
	bearer, password := realm.Credentials{Bearer: "t"}, realm.Credentials{User: "u", Password: "p"}
	for name, one := range map[string]struct {
		sent   realm.Credentials
		answer *pluginv1.AuthenticateResponse
		want   realm.Outcome
	}{
		"good token":              {bearer, &pluginv1.AuthenticateResponse{Outcome: ok, Principal: "ann", Roles: []string{"r"}, Expires: 1e9}, realm.Authenticated},
		"good password, no name":  {password, &pluginv1.AuthenticateResponse{Outcome: ok}, realm.Authenticated},
		"token without a user":    {bearer, &pluginv1.AuthenticateResponse{Outcome: ok}, realm.Unavailable},
		"pending, or newer":       {bearer, &pluginv1.AuthenticateResponse{Outcome: 4, Principal: "ann"}, realm.Unavailable},
		"pending to a password":   {password, &pluginv1.AuthenticateResponse{Outcome: 4, Principal: "u"}, realm.Unavailable},
		"negative outcome":        {bearer, &pluginv1.AuthenticateResponse{Outcome: -1, Principal: "ann"}, realm.Unavailable},
		"no outcome":              {password, &pluginv1.AuthenticateResponse{Principal: "u"}, realm.Unavailable},
		"end before all time":     {bearer, &pluginv1.AuthenticateResponse{Outcome: ok, Principal: "ann", Expires: -1}, realm.Unavailable},
		"end after all time":      {bearer, &pluginv1.AuthenticateResponse{Outcome: ok, Principal: "ann", Expires: 1 << 62}, realm.Unavailable},
		"line break in the name":  {bearer, &pluginv1.AuthenticateResponse{Outcome: ok, Principal: "ann\nadmin"}, realm.Unavailable},
		"huge name":               {password, &pluginv1.AuthenticateResponse{Outcome: ok, Principal: strings.Repeat("a", 2000)}, realm.Unavailable},
		"empty role":              {bearer, &pluginv1.AuthenticateResponse{Outcome: ok, Principal: "ann", Roles: []string{""}}, realm.Unavailable},
		"line break in a role":    {bearer, &pluginv1.AuthenticateResponse{Outcome: ok, Principal: "u", Roles: []string{"a\nadmin"}}, realm.Unavailable},
		"too many roles":          {bearer, &pluginv1.AuthenticateResponse{Outcome: ok, Principal: "ann", Roles: slices.Repeat([]string{"r"}, 1001)}, realm.Unavailable},
		"refusal with everything": {bearer, &pluginv1.AuthenticateResponse{Outcome: pluginv1.AuthenticateResponse_OUTCOME_UNKNOWN, Principal: "ann", Expires: -1}, realm.Unknown},
	} {
		h.answer = one.answer
		got := c.Authenticate(t.Context(), "x", one.sent)
		if got.Outcome != one.want || got.Outcome == realm.Unavailable && (got.Principal != "" || len(got.Roles) > 0 || got.Reason == "") {
			t.Errorf("%s: %+v", name, got)
		}
	}
	h.answer = &pluginv1.AuthenticateResponse{Outcome: ok, Principal: "ann", Expires: 1e9}
	if got := c.Authenticate(t.Context(), "x", bearer); !got.Expires.Equal(time.Unix(1e9, 0)) {
		t.Errorf("it ends %v", got.Expires)
	}
	if h.asked.GetBearer().GetText() != "t" || h.asked.User != "" || h.asked.Password != "" {
		t.Errorf("asked %v", h.asked)
	}
}

// A directory may call anything anything: a role beyond the limits locks out none of its users, and is not theirs.
func TestRolesOfDirectoriesAreLeftOut(t *testing.T) {
	h := &hostile{}
	c := dial(t, func(s *grpc.Server) { pluginv1.RegisterRealmServer(s, h) })
	many := slices.Repeat([]string{"r"}, 1001)
	for name, one := range map[string]struct{ sent, want []string }{
		"empty":            {[]string{"", "r"}, []string{"r"}},
		"long":             {[]string{strings.Repeat("a", 256), "r"}, []string{"r"}},
		"a line break":     {[]string{"a\nadmin", "r"}, []string{"r"}},
		"too many":         {many, many[:1000]},
		"nothing but such": {[]string{""}, nil},
		"none":             {nil, nil},
		"good":             {[]string{strings.Repeat("a", 255), "r"}, []string{strings.Repeat("a", 255), "r"}},
	} {
		h.answer = &pluginv1.AuthenticateResponse{Outcome: pluginv1.AuthenticateResponse_OUTCOME_AUTHENTICATED, Roles: one.sent, Reason: "why"}
		asked := c.Authenticate(t.Context(), "x", realm.Credentials{User: "u", Password: "p"})
		found, err := c.Find(t.Context(), "x", "u", "")
		if err != nil {
			t.Fatal(err)
		}
		for _, got := range []realm.Result{asked, found} {
			warned := strings.Contains(got.Reason, "left out")
			if got.Outcome != realm.Authenticated || !slices.Equal(got.Roles, one.want) || warned != (len(one.sent) > len(one.want)) || !strings.HasPrefix(got.Reason, "why") {
				t.Errorf("%s: %+v", name, got)
			}
		}
	}
}

func TestAPluginSaysWhatItsRealmTakes(t *testing.T) {
	h := &hostile{}
	c := dial(t, func(s *grpc.Server) { pluginv1.RegisterRealmServer(s, h) })
	for name, one := range map[string]struct {
		says []pluginv1.CredentialKind
		want []realm.Kind
	}{
		"a plugin of the first contract": {nil, []realm.Kind{realm.Password}},
		"tokens":                         {[]pluginv1.CredentialKind{2}, []realm.Kind{realm.Bearer}},
		"tokens, twice":                  {[]pluginv1.CredentialKind{2, 2}, []realm.Kind{realm.Bearer}},
		"kinds of a later contract":      {[]pluginv1.CredentialKind{77, 0}, nil},
	} {
		h.takes = one.says
		if _, err := c.Configure(t.Context(), realm.Config{Name: "x"}); err != nil {
			t.Fatal(err)
		}
		if got := c.Takes("x"); !slices.Equal(got, one.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// all lets everybody in, and takes what it says.
type all struct{ takes []realm.Kind }

func (a all) New(context.Context, realm.Config) (realm.Realm, []string, error) { return a, nil, nil }
func (a all) Takes() []realm.Kind                                              { return a.takes }
func (all) Close() error                                                       { return nil }

func (all) Authenticate(context.Context, realm.Credentials) (realm.Result, error) {
	return realm.Result{Outcome: realm.Authenticated, Principal: "ann"}, nil
}

// endless lets everybody in, until a time that no message has.
type endless struct{ all }

func (e endless) New(context.Context, realm.Config) (realm.Realm, []string, error) {
	return e, nil, nil
}

func (endless) Authenticate(context.Context, realm.Credentials) (realm.Result, error) {
	return realm.Result{Outcome: realm.Authenticated, Principal: "ann", Expires: time.Unix(1<<40, 0)}, nil
}

func TestCredentialsOfALongTimeAreNoFault(t *testing.T) {
	c := dial(t, func(s *grpc.Server) {
		realm.Register(s, "", func() (realm.Factory, error) { return endless{all{[]realm.Kind{realm.Bearer}}}, nil })
	})
	if _, err := c.Configure(t.Context(), realm.Config{Name: "x"}); err != nil {
		t.Fatal(err)
	}
	if got := c.Authenticate(t.Context(), "x", realm.Credentials{Bearer: "t"}); got.Outcome != realm.Authenticated || got.Expires.Year() < 9000 {
		t.Errorf("%+v", got)
	}
}

func TestARealmNeverSeesWhatItDoesNotTake(t *testing.T) {
	for _, takes := range []realm.Kind{realm.Password, realm.Bearer} {
		c := dial(t, func(s *grpc.Server) {
			realm.Register(s, "", func() (realm.Factory, error) { return all{[]realm.Kind{takes}}, nil })
		})
		if _, err := c.Configure(t.Context(), realm.Config{Name: "x"}); err != nil {
			t.Fatal(err)
		}
		for _, sent := range []realm.Credentials{{User: "u", Password: "p"}, {Bearer: "t"}} {
			got := c.Authenticate(t.Context(), "x", sent)
			if (got.Outcome == realm.Authenticated) != (sent.Kind() == takes) {
				t.Errorf("takes %v, sent %v: %+v", takes, sent.Kind(), got)
			}
		}
	}
}
