package realmjwt

import (
	"context"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"ctl.internal/sdk/realm"
	"ctl.internal/sdk/realm/trust"
)

// maxSeconds bounds settings that are times.
const maxSeconds = 30 * 24 * 3600

// supported are the algorithms that may be allowed. None of them uses a shared secret: a public key that is
// taken for one would let anybody sign.
var supported = []string{
	"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
}

var usual = []string{"RS256", "RS384", "RS512", "ES256"}

type factory struct {
	trust *trust.Source
	now   func() time.Time
}

// New implements realm.Factory. Names and defaults are those of OpenDaylight's realm of this name;
// clock-skew-seconds, authorized-parties, role-map, keys-kept-seconds, introspection-uri, client-id and
// client-secret are ours.
func (f factory) New(_ context.Context, c realm.Config) (realm.Realm, []string, error) {
	r := realm.Read(c)
	j := &jwtRealm{
		now:        f.now,
		issuer:     r.Needed("expected-issuer", "the issuer of the tokens (claim iss), such as https://login.example.org/realms/lab; a token of anybody else is not looked at"),
		audience:   readList(r, "expected-audience"),
		parties:    readList(r, "authorized-parties"),
		algorithms: readAlgorithms(r),
		typ:        r.String("expected-type", "JWT"),
		user:       r.String("user-claim", "preferred_username"),
		role:       r.String("role-claim", "groups"),
		roles:      r.Pairs("role-map"),
		skew:       seconds(r, "clock-skew-seconds", 60, 0, 300),
		active:     readIntrospection(r),
	}
	p := &provider{
		issuer: j.issuer,
		keys:   r.String("jwks-uri", ""),
		again:  r.Bool("retry-jwks-retrieval", false),
	}
	checkAddress(r, "jwks-uri", p.keys)
	if p.keys == "" {
		checkAddress(r, "expected-issuer", j.issuer)
	}
	j.keys = &keyCache{
		fetch:   p.fetchKeys,
		now:     f.now,
		ttl:     seconds(r, "cache-timetolive-seconds", 300, 1, maxSeconds),
		timeout: seconds(r, "cache-refreshtimeout-seconds", 15, 1, 60),
		pause:   seconds(r, "rate-limit-min-interval-seconds", 30, 0, maxSeconds),
		kept:    seconds(r, "keys-kept-seconds", 24*3600, 0, maxSeconds),

		slowAfter: 500 * time.Millisecond,
	}
	j.keys.life, j.keys.end = context.WithCancel(context.Background())
	if err := r.Err(); err != nil {
		j.keys.end()
		return nil, nil, err
	}
	p.client = newClient(f.trust)
	if j.active != nil {
		j.active.client = p.client
	}
	j.close = p.client.CloseIdleConnections
	var warnings []string
	if len(j.audience) == 0 {
		warnings = append(warnings, c.Name+".expected-audience is not set: a token that "+j.issuer+
			" has issued for any other service is good here, too; set it to the name of this controller at the provider")
	}
	return j, warnings, nil
}

func seconds(r *realm.Reader, name string, otherwise, least, most int) time.Duration {
	return time.Duration(r.Int(name, otherwise, least, most)) * time.Second
}

// readList returns the values of a property without brackets and quotes; upstream writes lists as JSON.
func readList(r *realm.Reader, name string) (out []string) {
	p, _ := r.Get(name)
	for _, item := range p.List {
		if item = strings.Trim(item, " \t[]\""); item != "" {
			out = append(out, item)
		}
	}
	return out
}

func readAlgorithms(r *realm.Reader) (out []jose.SignatureAlgorithm) {
	names := readList(r, "allowed-algorithms")
	if len(names) == 0 {
		names = usual
	}
	for _, name := range names {
		if !slices.Contains(supported, name) {
			r.Fault("allowed-algorithms", "%q is no algorithm for signatures with public keys; write some of %s",
				name, strings.Join(supported, ", "))
		}
		out = append(out, jose.SignatureAlgorithm(name))
	}
	return out
}

// checkAddress refuses addresses whose answers others could forge.
func checkAddress(r *realm.Reader, name, text string) {
	if text == "" {
		return
	}
	if !isSafeAddress(text) {
		r.Fault(name, "%q is no address that keys can be asked at; write https://host/path (http:// on this machine alone)", text)
	}
}

func isSafeAddress(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	local := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	return u.Scheme == "https" || u.Scheme == "http" && local
}
