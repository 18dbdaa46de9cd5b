package realmidsvc

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"ctl.internal/sdk/realm"
	"ctl.internal/sdk/realm/trust"
)

type factory struct{ trust *trust.Source }

// New implements realm.Factory.
func (f factory) New(_ context.Context, c realm.Config) (realm.Realm, []string, error) {
	r := realm.Read(c)
	text := r.Needed(
		"url",
		"the address of the identity service, such as https://identity.example.org:5000",
	)
	verify := r.Bool("sslVerification", true)
	s := &service{
		domain:  r.String("defaultDomain", "Default"),
		appCred: r.Bool("applicationCredentials", false),
	}
	s.account = newAccount(r, s)
	var warnings []string
	s.base, warnings = parseURL(r, text, verify)
	if err := r.Err(); err != nil {
		return nil, nil, err
	}
	s.endpoint = s.base.JoinPath("auth", "tokens").String() + "?nocatalog"
	s.client = newClient(f.trust, s.base.Hostname(), verify)
	return s, warnings, nil
}

// parseURL reads the url, with or without the version at its end.
func parseURL(r *realm.Reader, text string, verify bool) (u *url.URL, warnings []string) {
	u, err := url.Parse(text)
	switch {
	case text == "":
		return nil, nil
	case err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https":
		r.Fault("url", "%q is not an address; write https://host:port or http://host:port", text)
		return nil, nil
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		r.Fault("url", "only scheme, host, port and path belong here")
		return nil, nil
	}
	ip := net.ParseIP(u.Hostname())
	if u.Scheme == "http" && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		warnings = append(warnings, "passwords travel to "+text+" in clear text; use https://")
	}
	if u.Scheme == "https" && !verify {
		warnings = append(
			warnings,
			"the certificate of "+text+" is not verified (sslVerification = false): anyone on the way can read passwords",
		)
	}
	if u.Path = strings.TrimRight(u.Path, "/"); !strings.HasSuffix(u.Path, "/v3") {
		u.Path += "/v3"
	}
	return u, warnings
}

// newClient returns a client that keeps connections, follows no redirect (it would
// carry the password elsewhere) and uses no proxy.
func newClient(t *trust.Source, host string, verify bool) *http.Client {
	dialer := &net.Dialer{Timeout: 5 * time.Second}
	return &http.Client{
		Timeout: 30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
		Transport: &http.Transport{
			DialContext: dialer.DialContext,
			DialTLSContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				config := &tls.Config{
					InsecureSkipVerify: true,
					MinVersion:         tls.VersionTLS12,
				}
				if verify {
					var err error
					if config, err = t.Client(ctx, host); err != nil {
						return nil, err
					}
				}
				return (&tls.Dialer{
					NetDialer: dialer,
					Config:    config,
				}).DialContext(ctx, network, address)
			},
			MaxIdleConnsPerHost:    16,
			MaxConnsPerHost:        64,
			IdleConnTimeout:        time.Minute,
			MaxResponseHeaderBytes: 64 << 10,
			ResponseHeaderTimeout:  30 * time.Second,
		},
	}
}
