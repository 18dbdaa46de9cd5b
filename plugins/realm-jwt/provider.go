package realmjwt

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"ctl.internal/sdk/realm/trust"
)

// Limits of what a provider answers: bytes, keys, and bits of the shortest RSA key (RFC 7518, 3.3) and the longest,
// with which a signature is verified in time.
const (
	maxAnswer  = 1 << 20
	maxKeys    = 100
	minRSABits = 2048
	maxRSABits = 8192
)

// provider is where the keys come from.
type provider struct {
	client *http.Client
	issuer string
	keys   string // address of the keys; "" = discovered by the issuer
	again  bool   // a failed try is repeated once
}

// newClient returns a client that follows no redirect, as another server would answer then, and uses no proxy.
func newClient(t *trust.Source) *http.Client {
	dialer := &net.Dialer{Timeout: 5 * time.Second}
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
		Transport: &http.Transport{
			DialContext: dialer.DialContext,
			DialTLSContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				host, _, err := net.SplitHostPort(address)
				if err != nil {
					return nil, err
				}
				config, err := t.Client(ctx, host)
				if err != nil {
					return nil, err
				}
				return (&tls.Dialer{
					NetDialer: dialer,
					Config:    config,
				}).DialContext(ctx, network, address)
			},
			MaxIdleConnsPerHost:    2,
			IdleConnTimeout:        time.Minute,
			MaxResponseHeaderBytes: 64 << 10,
		},
	}
}

// fetchKeys asks for the keys, in one try or two.
func (p *provider) fetchKeys(ctx context.Context) ([]jose.JSONWebKey, error) {
	keys, err := p.fetchOnce(ctx)
	if err != nil && p.again && ctx.Err() == nil {
		return p.fetchOnce(ctx)
	}
	return keys, err
}

func (p *provider) fetchOnce(ctx context.Context) ([]jose.JSONWebKey, error) {
	address := p.keys
	if address == "" {
		var err error
		if address, err = p.discoverKeys(ctx); err != nil {
			return nil, err
		}
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := p.getJSON(ctx, address, &set); err != nil {
		return nil, err
	}
	if len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("%s has %d keys, more than %d", address, len(set.Keys), maxKeys)
	}
	var keys []jose.JSONWebKey
	for _, text := range set.Keys {
		var k jose.JSONWebKey
		if k.UnmarshalJSON(text) == nil && canVerify(&k) { // keys of other uses and kinds stand there, too
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("%s has no key that can verify a signature", address)
	}
	return keys, nil
}

// canVerify reports whether a key is a public one for signatures, and long enough. A symmetric key that is
// published is none.
func canVerify(k *jose.JSONWebKey) bool {
	if k.Use != "" && k.Use != "sig" || !k.Valid() {
		return false
	}
	switch key := k.Key.(type) {
	case *rsa.PublicKey:
		return key.N.BitLen() >= minRSABits && key.N.BitLen() <= maxRSABits
	case *ecdsa.PublicKey, ed25519.PublicKey:
		return true
	}
	return false
}

// discoverKeys asks the issuer where its keys are (OpenID Connect Discovery 1.0, 4.3).
func (p *provider) discoverKeys(ctx context.Context) (string, error) {
	address := strings.TrimSuffix(p.issuer, "/") + "/.well-known/openid-configuration"
	var said struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	if err := p.getJSON(ctx, address, &said); err != nil {
		return "", err
	}
	switch {
	case said.Issuer != p.issuer:
		return "", fmt.Errorf("%s is of the issuer %.200q, not of %q: set expected-issuer exactly as the provider writes it", address, said.Issuer, p.issuer)
	case !isSafeAddress(said.Keys):
		return "", fmt.Errorf("%s names no address of keys by https://", address)
	}
	return said.Keys, nil
}

func (p *provider) getJSON(ctx context.Context, address string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	return readJSON(p.client, r, into)
}

// readJSON sends a request and reads its answer.
func readJSON(client *http.Client, r *http.Request, into any) error {
	address := r.URL.String()
	r.Header.Set("Accept", "application/json")
	answer, err := client.Do(r)
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err
	}
	if err != nil {
		return fmt.Errorf("%s: %w", address, err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", address, err)
	case answer.StatusCode != http.StatusOK:
		return fmt.Errorf("%s answers with status %d", address, answer.StatusCode)
	case len(body) > maxAnswer:
		return fmt.Errorf("%s: the answer is longer than %d bytes", address, maxAnswer)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%s: the answer is no JSON that is understood: %w", address, err)
	}
	return nil
}
