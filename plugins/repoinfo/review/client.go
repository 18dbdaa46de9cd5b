// Package review asks a code-review server (Gerrit's REST API) for projects,
// branches, tags and merged changes, and passes its objects on as
// received; the only member added is submittable, which the server leaves out where it is false.
package review

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"ctl.internal/internal/together"
	"ctl.internal/sdk/fault"
)

// Options say where the server is and how patient its client is.
type Options struct {
	URL      string // with or without a final "/"
	Username string // empty = anonymous
	Password string // the account's HTTP password
	Timeout  time.Duration
	Budget   time.Duration // of one question with all its pages and retries, shared or not
	Tries    uint          // of one page
	Fresh    time.Duration // how long an answer is used again without asking
	MaxBytes int64         // of one answer, all pages together
	Pages    int           // page size asked for
	// TLS gives the settings for a server, asked for each connection; only the
	// certificates that it trusts are used. nil = those of the operating system.
	TLS func(ctx context.Context, server string) (*tls.Config, error)
}

// Client asks one server. It is safe for use by many; those who ask the same at the
// same time share one request and its answer, which must not be changed.
type Client struct {
	o    Options
	base string // with final "/", and "a/" when there are credentials
	http *http.Client

	names  together.Group[[]string]
	arrays together.Group[[]json.RawMessage]

	mu    sync.Mutex
	cache map[string]*cached
	bytes int64

	retries map[string]*rate.Limiter // by project: a server that fails is not flooded
}

// New makes a client; absent options have defaults. The address is one that settings.Check has passed.
func New(o Options) (*Client, error) {
	u, err := url.Parse(o.URL)
	if err != nil {
		return nil, err
	}
	c := &Client{
		o:       o,
		cache:   map[string]*cached{},
		retries: map[string]*rate.Limiter{},
	}
	c.base = strings.TrimSuffix(o.URL, "/") + "/"
	if o.Username != "" {
		c.base += "a/"
	}
	c.o.Timeout, c.o.Budget = cmp.Or(o.Timeout, 20*time.Second), cmp.Or(o.Budget, 2*time.Minute)
	c.o.Tries, c.o.MaxBytes, c.o.Pages = cmp.Or(o.Tries, 4), cmp.Or(o.MaxBytes, 64<<20), cmp.Or(o.Pages, 500)
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = c.o.Timeout
	transport.MaxResponseHeaderBytes = 64 << 10
	transport.MaxConnsPerHost = 8
	if o.TLS != nil {
		transport.TLSClientConfig = c.verifiedTLSConfig(u.Hostname())
	}
	c.http = &http.Client{
		Transport:     transport,
		CheckRedirect: sameOrigin,
	}
	return c, nil
}

// sameOrigin refuses redirects that would carry the credentials to another server, or
// to the same one without encryption.
func sameOrigin(req *http.Request, via []*http.Request) error {
	asked := via[0].URL
	if req.URL.Scheme != asked.Scheme || req.URL.Host != asked.Host {
		return fault.Device(fault.Downstream,
			"the review server redirects to %s://%s: if that is where it is now, set review_url to it", req.URL.Scheme, req.URL.Host)
	}
	if len(via) >= 5 {
		return fault.Device(fault.Downstream, "the review server redirects in a loop")
	}
	return nil
}

// projectKey is the key of the context's project, whose budget of retries counts.
type projectKey struct{}

const maxLimiters = 1024

// mayRetry takes one retry out of the budget of the context's project: ten, and then
// one every two seconds.
func (c *Client) mayRetry(ctx context.Context) bool {
	project, _ := ctx.Value(projectKey{}).(string)
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.retries[project]
	if l == nil {
		if len(c.retries) >= maxLimiters {
			clear(c.retries)
		}
		l = rate.NewLimiter(rate.Every(2*time.Second), 10)
		c.retries[project] = l
	}
	return l.Allow()
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// CloneURL is where git finds a project of this server.
func (c *Client) CloneURL(project string) string {
	return c.base + strings.ReplaceAll(url.PathEscape(project), "%2F", "/")
}

// verifiedTLSConfig are settings that verify a connection as Options.TLS says at that moment,
// through a proxy, too.
func (c *Client) verifiedTLSConfig(host string) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true, // because VerifyConnection does it
		VerifyConnection: func(state tls.ConnectionState) error {
			ctx, cancel := context.WithTimeout(context.Background(), c.o.Timeout)
			defer cancel()
			name := cmp.Or(state.ServerName, host) // an address has no such
			settings, err := c.o.TLS(ctx, name)
			if err != nil {
				return err
			}
			o := x509.VerifyOptions{
				Roots:         settings.RootCAs,
				DNSName:       name,
				Intermediates: x509.NewCertPool(),
			}
			for _, more := range state.PeerCertificates[1:] {
				o.Intermediates.AddCert(more)
			}
			_, err = state.PeerCertificates[0].Verify(o)
			return err
		},
	}
}
