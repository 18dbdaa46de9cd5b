package realmidsvc

import (
	"bufio"
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/realm"
)

func TestMain(m *testing.M) {
	plugintest.ServeAsProgram("realm-idsvc", Options)
	goleak.VerifyTestMain(m)
}

const (
	kind  = "IdSvcAuthRealm"
	appID = "0123456789abcdef0123456789abcdef"
)

// identityService answers as the Identity API does.
func identityService(t *testing.T) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in tokenRequest
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.URL.Path != "/v3/auth/tokens" || r.URL.RawQuery != "nocatalog" {
			t.Errorf("%s: %v", r.URL, err)
		}
		id := in.Auth.Identity
		switch {
		case id.Credential != nil && id.Credential.Secret == "app":
			w.WriteHeader(http.StatusCreated)
			_, _ = w.Write([]byte(`{"token":{"user":{"name":"robot"},"roles":[{"name":"reader"}]}}`))
		case id.Password != nil && id.Password.User.Name == "moved":
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusTemporaryRedirect)
		case id.Password != nil && id.Password.User.Name == "broken":
			w.WriteHeader(http.StatusBadGateway)
		case id.Password != nil && id.Password.User.Name == "expired":
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = fmt.Fprintf(w, `{"error":{"code":401,"title":"Unauthorized","message":"The password is expired\nfor %s %s"}}`, id.Password.User.Name, id.Password.User.Password)
		case id.Password != nil && id.Password.User.Name == "factors":
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"receipt":{"methods":["password"]},"required_auth_methods":[["password","totp"],["password","oauth1"]]}`))
		case id.Password != nil && id.Password.User.Name == "odd":
			_, _ = w.Write([]byte(`<html>`))
		case id.Password != nil && id.Password.User.Password == "s3c\"ret" && *in.Auth.Scope.Domain == id.Password.User.Domain && in.Auth.Scope.Domain.Name != "gone":
			w.WriteHeader(http.StatusCreated)
			_ = json.NewEncoder(w).Encode(map[string]any{"token": map[string]any{"user": named{id.Password.User.Name},
				"roles": []named{{"user"}, {"of-" + in.Auth.Scope.Domain.Name}, {"user"}}}})
		default:
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
}

func configured(t *testing.T, host *plugintest.Host, p map[string]string) (*realm.Client, []string, error) {
	t.Helper()
	c := realm.NewClient(plugintest.Start(t, Options(), plugintest.WithHost(host)).Conn)
	cfg := realm.Config{Name: "r", Kind: kind, Properties: map[string]realm.Property{}}
	for k, v := range p {
		cfg.Properties[k] = realm.Property{Value: v, Origin: "etc/sec.ini:3"}
	}
	w, err := c.Configure(t.Context(), cfg)
	return c, w, err
}

func TestLogins(t *testing.T) {
	srv := httptest.NewServer(identityService(t))
	defer srv.Close()
	c, _, err := configured(t, plugintest.NewHost(t), map[string]string{"url": srv.URL + "/v3/", "defaultDomain": "Lab", "applicationCredentials": "true"})
	if err != nil {
		t.Fatal(err)
	}
	in := func(principal string, roles ...string) realm.Result {
		return realm.Result{Outcome: realm.Authenticated, Principal: principal, Roles: roles}
	}
	no, down := realm.Result{}, realm.Result{Outcome: realm.Unavailable}
	for name, k := range map[string]struct {
		user, domain, password string
		want                   realm.Result
	}{
		"default domain": {"alice", "", `s3c"ret`, in("alice", "of-Lab", "user")},
		"typed domain":   {"alice", "sdn", `s3c"ret`, in("alice", "of-sdn", "user")},
		"named domain":   {"alice", "Other", `s3c"ret`, in("alice", "of-Other", "user")},
		"quotes":         {`a"}`, "", `s3c"ret`, in(`a"}`, "of-Lab", "user")},
		"wrong domain":   {"alice", "gone", `s3c"ret`, no},
		"wrong password": {"alice", "", "x", no},
		"none":           {"alice", "", "", no},
		"long name":      {strings.Repeat("a", 256), "", "x", no},
		"credential":     {appID, "", "app", in("robot", "reader")},
		"redirected":     {"moved", "", "x", down},
		"failing":        {"broken", "", "x", down},
		"no token":       {"odd", "", "x", down},
	} {
		got := c.Authenticate(t.Context(), "r", realm.Credentials{User: k.user, Domain: k.domain, Password: k.password})
		k.want.Reason = got.Reason
		if diff := cmp.Diff(k.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Why a service refused reaches the operator, in one printable line and without the password.
func TestTheReasonOfTheServiceIsPassedOn(t *testing.T) {
	srv := httptest.NewServer(identityService(t))
	defer srv.Close()
	c, _, err := configured(t, plugintest.NewHost(t), map[string]string{"url": srv.URL})
	if err != nil {
		t.Fatal(err)
	}
	got := c.Authenticate(t.Context(), "r", realm.Credentials{User: "expired", Password: "hunter2"})
	if got.Outcome != realm.Unknown || !strings.Contains(got.Reason, `"The password is expired for expired ***"`) {
		t.Errorf("%+v", got)
	}
}

func TestADemandForASecondFactorIsNamed(t *testing.T) {
	srv := httptest.NewServer(identityService(t))
	defer srv.Close()
	c, _, err := configured(t, plugintest.NewHost(t), map[string]string{"url": srv.URL})
	if err != nil {
		t.Fatal(err)
	}
	got := c.Authenticate(t.Context(), "r", realm.Credentials{User: "factors", Password: "right"})
	if got.Outcome != realm.Unknown || !strings.Contains(got.Reason, "a further factor for this user (totp, or oauth1)") {
		t.Errorf("%+v", got)
	}
}

func TestASilentServiceIsUnavailable(t *testing.T) {
	release := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer srv.Close()
	defer close(release)
	c, _, err := configured(t, plugintest.NewHost(t), map[string]string{"url": srv.URL})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if got := c.Authenticate(ctx, "r", realm.Credentials{User: "a", Password: "b"}); got.Outcome != realm.Unavailable {
		t.Errorf("%+v", got)
	}
}

func TestCertificatesAreVerified(t *testing.T) {
	srv := httptest.NewTLSServer(identityService(t))
	defer srv.Close()
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	for name, k := range map[string]struct {
		trusted []byte
		verify  string
		want    realm.Outcome
		warned  bool
	}{
		"trusted":      {cert, "", realm.Authenticated, false},
		"not trusted":  {nil, "true", realm.Unavailable, false},
		"not verified": {nil, "false", realm.Authenticated, true},
	} {
		host := plugintest.NewHost(t)
		host.Trust(k.trusted)
		c, warnings, err := configured(t, host, map[string]string{"url": srv.URL, "sslVerification": k.verify})
		if err != nil {
			t.Fatal(err)
		}
		got := c.Authenticate(t.Context(), "r", realm.Credentials{User: "alice", Password: `s3c"ret`})
		if got.Outcome != k.want || (len(warnings) > 0) != k.warned {
			t.Errorf("%s: %+v, %v", name, got, warnings)
		}
	}
}

func TestFaultsOfSecIni(t *testing.T) {
	host := plugintest.NewHost(t)
	for want, p := range map[string]map[string]string{
		"needs `r.url":              {},
		"is not an address":         {"url": "identity:5000"},
		"neither true nor false":    {"url": "https://h", "sslVerification": "maybe"},
		`mean "sslVerification"?`:   {"url": "https://h", "sslVerificaton": "true"},
		"scheme, host, port and pa": {"url": "https://u:p@h"},
	} {
		if _, _, err := configured(t, host, p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

func TestAConnectionThatTheServerHasClosedCostsNoLogin(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var asked atomic.Int32
	go func() { // one request a connection; a second one on it is reset
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			r := bufio.NewReader(c)
			if q, err := http.ReadRequest(r); err == nil {
				_, _ = io.Copy(io.Discard, q.Body)
				asked.Add(1)
				const text = `{"token":{"user":{"name":"alice"}}}`
				fmt.Fprintf(c, "HTTP/1.1 201 Created\r\nContent-Length: %d\r\n\r\n%s", len(text), text)
				_, _ = r.ReadByte()
			}
			_ = c.(*net.TCPConn).SetLinger(0)
			c.Close()
		}
	}()
	c, _, err := configured(t, plugintest.NewHost(t), map[string]string{"url": "http://" + l.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if got := c.Authenticate(t.Context(), "r", realm.Credentials{User: "alice", Password: "pw"}); got.Outcome != realm.Authenticated {
			t.Fatalf("%+v", got)
		}
	}
	if n := asked.Load(); n != 5 {
		t.Errorf("asked %d times", n)
	}
}
