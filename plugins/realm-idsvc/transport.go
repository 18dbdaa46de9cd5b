package realmidsvc

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"time"

	"ctl.internal/sdk/realm/trust"
)

// newClient returns a client that keeps connections, follows no redirect (it would
// carry the password elsewhere) and uses no proxy.
func newClient(t *trust.Source, host string, verify bool) *http.Client {
	dialer := &net.Dialer{Timeout: 5 * time.Second}
	return &http.Client{
		Timeout:       30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: dialer.DialContext,
			DialTLSContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				config := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}
				if verify {
					var err error
					if config, err = t.Client(ctx, host); err != nil {
						return nil, err
					}
				}
				return (&tls.Dialer{NetDialer: dialer, Config: config}).DialContext(ctx, network, address)
			},
			MaxIdleConnsPerHost: 16, MaxConnsPerHost: 64, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 64 << 10,
			ResponseHeaderTimeout: 30 * time.Second,
		},
	}
}
