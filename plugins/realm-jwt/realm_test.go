package realmjwt

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"go.uber.org/goleak"

	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/realm"
	"ctl.internal/sdk/realm/trust"
)

func TestMain(m *testing.M) {
	plugintest.ServeAsProgram("realm-jwt", Options)
	goleak.VerifyTestMain(m)
}

// issuer is a provider whose keys, behaviour and clock a test sets.
type issuer struct {
	*httptest.Server
	t    *testing.T
	keys map[string]crypto.Signer // by kid

	mu    sync.Mutex
	now   time.Time
	asked int    // for keys
	fault string // what it does in place of an answer
	other string // issuer that it says it is
}

func newIssuer(t *testing.T) *issuer {
	i := &issuer{t: t, now: time.Unix(1_800_000_000, 0), keys: map[string]crypto.Signer{}}
	i.keys["ec"] = must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	i.Server = httptest.NewServer(http.HandlerFunc(i.answer))
	t.Cleanup(i.Close)
	return i
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func (i *issuer) answer(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	fault, other := i.fault, i.other
	if r.URL.Path == "/keys" {
		i.asked++
	}
	i.mu.Unlock()
	switch {
	case fault == "hangs":
		<-r.Context().Done()
	case fault == "rubbish":
		fmt.Fprint(w, "<html>")
	case fault == "fails":
		w.WriteHeader(http.StatusBadGateway)
	case fault == "redirects":
		http.Redirect(w, r, i.URL+"/elsewhere", http.StatusFound)
	case fault == "huge":
		_, _ = w.Write(make([]byte, maxAnswer+1))
	case fault == "no keys":
		fmt.Fprint(w, `{"issuer":"`+i.URL+`","jwks_uri":"`+i.URL+`/keys","keys":[]}`)
	case fault == "symmetric key":
		fmt.Fprint(w, `{"issuer":"`+i.URL+`","jwks_uri":"`+i.URL+`/keys","keys":[{"kty":"oct","kid":"ec","k":"c2VjcmV0"}]}`)
	case r.URL.Path == "/.well-known/openid-configuration":
		issuer := i.URL
		if other != "" {
			issuer = other
		}
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": issuer, "jwks_uri": i.URL + "/keys"})
	case r.URL.Path == "/keys", r.URL.Path == "/elsewhere":
		_ = json.NewEncoder(w).Encode(i.published())
	default:
		http.NotFound(w, r)
	}
}

func (i *issuer) published() (set jose.JSONWebKeySet) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for kid, key := range i.keys {
		set.Keys = append(set.Keys, jose.JSONWebKey{Key: key.Public(), KeyID: kid, Use: "sig"})
	}
	return set
}

func (i *issuer) set(change func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change()
}

func (i *issuer) calls() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.asked
}

// realm makes an instance with the clock of the issuer.
func (i *issuer) realm(properties map[string]realm.Property) (*jwtRealm, []string, error) {
	all := map[string]realm.Property{"expected-issuer": {Value: i.URL}, "expected-audience": {Value: "ctl", List: []string{"ctl"}}}
	maps.Copy(all, properties)
	f := factory{
		trust: trust.New(plugintest.NewHost(i.t).Client(i.t, nil).Certificates, slog.New(slog.DiscardHandler)),
		now: func() time.Time {
			i.mu.Lock()
			defer i.mu.Unlock()
			return i.now
		},
	}
	r, warnings, err := f.New(i.t.Context(), realm.Config{Name: "k", Kind: "BearerJwtRealm", Properties: all})
	if err != nil {
		return nil, warnings, err
	}
	i.t.Cleanup(func() { _ = r.Close() })
	return r.(*jwtRealm), warnings, nil
}

func (i *issuer) mustRealm(properties map[string]realm.Property) *jwtRealm {
	i.t.Helper()
	j, _, err := i.realm(properties)
	if err != nil {
		i.t.Fatal(err)
	}
	j.keys.slowAfter = time.Hour // on a busy machine a provider that answers may be slow
	return j
}

// claims are those of a good token.
func (i *issuer) claims() map[string]any {
	i.mu.Lock()
	defer i.mu.Unlock()
	return map[string]any{
		"iss": i.URL, "aud": "ctl", "exp": i.now.Unix() + 3600, "iat": i.now.Unix(), "nbf": i.now.Unix(),
		"preferred_username": "ann", "groups": []string{"netops", "staff"},
	}
}

func with(said map[string]any, name string, value any) map[string]any {
	said = maps.Clone(said)
	if said[name] = value; value == nil {
		delete(said, name)
	}
	return said
}

// sign makes a token by the library, as a provider does.
func sign(alg jose.SignatureAlgorithm, key any, header map[jose.HeaderKey]any, payload any) string {
	text, isText := payload.(string)
	if !isText {
		text = string(must(json.Marshal(payload)))
	}
	o := &jose.SignerOptions{ExtraHeaders: header}
	signed := must(must(jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, o)).Sign([]byte(text)))
	return must(signed.CompactSerialize())
}

func header(pairs ...any) map[jose.HeaderKey]any {
	h := map[jose.HeaderKey]any{"typ": "JWT", "kid": "ec"}
	for n := 0; n+1 < len(pairs); n += 2 {
		h[jose.HeaderKey(pairs[n].(string))] = pairs[n+1]
	}
	return h
}

func (i *issuer) token(said map[string]any) string {
	return sign(jose.ES256, i.keys["ec"], header(), said)
}

// ask bounds the test, and leaves a hanging provider some time.
func ask(t *testing.T, j *jwtRealm, token string) (realm.Result, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return j.Authenticate(ctx, realm.Credentials{Bearer: token})
}

func TestATokenOfTheProvider(t *testing.T) {
	i := newIssuer(t)
	i.keys["rsa"] = must(rsa.GenerateKey(rand.Reader, 2048))
	_, i.keys["ed"], _ = ed25519.GenerateKey(rand.Reader)
	said := i.claims()
	said["realm_access"] = map[string]any{"roles": []string{"netops", "other"}}
	list := func(items ...string) realm.Property {
		return realm.Property{Value: strings.Join(items, ","), List: items}
	}
	for name, one := range map[string]struct {
		properties map[string]realm.Property
		token      string
		roles      []string
	}{
		"discovery":   {nil, i.token(said), []string{"netops", "staff"}},
		"jwks-uri":    {map[string]realm.Property{"jwks-uri": {Value: i.URL + "/keys"}}, i.token(said), []string{"netops", "staff"}},
		"RS256":       {nil, sign(jose.RS256, i.keys["rsa"], header("kid", "rsa"), said), []string{"netops", "staff"}},
		"EdDSA":       {map[string]realm.Property{"allowed-algorithms": list("EdDSA")}, sign(jose.EdDSA, i.keys["ed"], header("kid", "ed"), said), []string{"netops", "staff"}},
		"without kid": {nil, sign(jose.ES256, i.keys["ec"], map[jose.HeaderKey]any{}, said), []string{"netops", "staff"}},
		"at+jwt": {map[string]realm.Property{"expected-type": {Value: "at+jwt"}},
			sign(jose.ES256, i.keys["ec"], header("typ", "application/at+jwt"), said), []string{"netops", "staff"}},
		"a path, and a map": {map[string]realm.Property{"role-claim": {Value: "realm_access.roles"}, "role-map": {Value: "x", Map: map[string]string{"netops": "admin, user"}}},
			i.token(said), []string{"admin", "user"}},
		"no groups":    {nil, i.token(with(said, "groups", nil)), nil},
		"one group":    {nil, i.token(with(said, "groups", "staff")), []string{"staff"}},
		"audiences":    {nil, i.token(with(said, "aud", []string{"x", "ctl"})), []string{"netops", "staff"}},
		"party":        {map[string]realm.Property{"authorized-parties": list("web", "cli")}, i.token(with(said, "azp", "cli")), []string{"netops", "staff"}},
		"in the skew":  {nil, i.token(with(said, "exp", said["iat"].(int64)-59)), []string{"netops", "staff"}},
		"early, so so": {nil, i.token(with(said, "nbf", said["iat"].(int64)+60)), []string{"netops", "staff"}},
	} {
		got, err := ask(t, i.mustRealm(one.properties), one.token)
		if err != nil || got.Outcome != realm.Authenticated || got.Principal != "ann" || !slices.Equal(got.Roles, one.roles) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestSettingsThatWouldLetOthersIn(t *testing.T) {
	i := newIssuer(t)
	for name, one := range map[string]struct{ property, value, want string }{
		"no issuer":        {"expected-issuer", "", "expected-issuer"},
		"clear text":       {"jwks-uri", "http://login.example.org/keys", "https://"},
		"no address":       {"expected-issuer", "lab", "https://"},
		"a shared secret":  {"allowed-algorithms", "HS256", "HS256"},
		"none":             {"allowed-algorithms", "none", "none"},
		"unknown property": {"expected-audienc", "x", "expected-audience"},
		"skew":             {"clock-skew-seconds", "9999", "300"},
	} {
		_, _, err := i.realm(map[string]realm.Property{one.property: {Value: one.value, List: []string{one.value}, Origin: "etc/sec.ini:3"}})
		if err == nil || !strings.Contains(err.Error(), one.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, warnings, err := i.realm(map[string]realm.Property{"expected-audience": {}})
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "any other service") {
		t.Errorf("no audience: %v, %v", warnings, err)
	}
}
