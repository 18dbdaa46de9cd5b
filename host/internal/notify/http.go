package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"ctl.internal/host/internal/home"
)

const (
	maxAnswer    = 64 << 10 // bytes that are read of an answer
	maxHeaders   = 64 << 10 // bytes
	maxRedirects = 3
)

// authorities are those of a file; an empty name is those of the system.
func authorities(dir home.Dir, file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	text, err := home.ReadRegular(dir.Path(file))
	if err != nil {
		return nil, fmt.Errorf("ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("ca: %s has no certificate in the form of PEM", file)
	}
	return pool, nil
}

// newClient makes what posts to one server.
func newClient(pool *x509.CertPool) *http.Client {
	return &http.Client{
		Timeout: sendTime,
		Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: sendTime}).DialContext,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool},
			TLSHandshakeTimeout:    sendTime,
			ResponseHeaderTimeout:  sendTime,
			MaxResponseHeaderBytes: maxHeaders,
			IdleConnTimeout:        time.Minute,
			MaxIdleConnsPerHost:    1,
			ForceAttemptHTTP2:      true,
		},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			first := via[0]
			switch {
			case r.URL.Scheme != first.URL.Scheme || r.URL.Host != first.URL.Host:
				return errors.New("it redirects to another server, which is not followed")
			case r.Method != first.Method:
				return errors.New("it redirects in a way that loses the message; it must answer 307 or 308")
			case len(via) > maxRedirects:
				return errors.New("it redirects too often")
			}
			return nil
		},
	}
}

// post sends a body; what is not answered with 2xx is an error, which does not have the path of the URL.
func post(ctx context.Context, c *http.Client, to string, header http.Header, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return errors.New("its address cannot be used")
	}
	for name, values := range header {
		r.Header[name] = values
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "ctl")
	a, err := c.Do(r)
	if err != nil {
		if at := new(url.Error); errors.As(err, &at) {
			err = at.Err // without the URL
		}
		return err
	}
	defer a.Body.Close()
	// What it says is read so that the connection can be used again; a longer answer ends it.
	_, err = io.Copy(io.Discard, io.LimitReader(a.Body, maxAnswer))
	if a.StatusCode/100 != 2 {
		return fmt.Errorf("it answered %d %s", a.StatusCode, http.StatusText(a.StatusCode))
	}
	if err != nil {
		return fmt.Errorf("its answer was not complete: %w", err)
	}
	return nil
}

// serverOf is a URL without what may be secret.
func serverOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// webhook posts each event as JSON, signed.
type webhook struct {
	url, controller string
	secret          []byte
	client          *http.Client
}

func newWebhook(dir home.Dir, controller string, w home.NotifyWebhook) (*webhook, error) {
	if text := home.FaultOfWebhook(w.URL); text != "" { // it may have been sealed until now
		return nil, fmt.Errorf("webhook.url: %s", text)
	}
	pool, err := authorities(dir, w.CA)
	if err != nil {
		return nil, fmt.Errorf("webhook.%w", err)
	}
	return &webhook{
		url:        w.URL,
		controller: controller,
		secret:     []byte(w.Secret),
		client:     newClient(pool),
	}, nil
}

func (w *webhook) kind() string    { return "webhook" }
func (w *webhook) address() string { return serverOf(w.url) }
func (w *webhook) group() group    { return group{} }

// body is an event as receivers get it.
type body struct {
	Event
	Controller string `json:"controller"`
}

func (w *webhook) send(ctx context.Context, m *Message) error {
	for _, e := range m.Events { // it is one
		text, err := json.Marshal(body{e, w.controller})
		if err != nil {
			return err
		}
		at := strconv.FormatInt(time.Now().Unix(), 10)
		header := http.Header{}
		header.Set("Ctl-Message-Id", e.ID)
		header.Set("Ctl-Timestamp", at)
		header.Set("Ctl-Signature", "sha256="+sign(w.secret, at, text))
		if err := post(ctx, w.client, w.url, header, text); err != nil {
			return err
		}
	}
	return nil
}

// sign is the signature of a body and the time of sending: HMAC-SHA256 over TIME.BODY.
func sign(secret []byte, at string, body []byte) string {
	h := hmac.New(sha256.New, secret)
	_, _ = io.WriteString(h, at+".") // a hash takes everything
	_, _ = h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}

// alertmanager posts alerts (API version 2).
type alertmanager struct {
	url, controller string
	client          *http.Client
}

func newAlertmanager(dir home.Dir, controller string, a home.NotifyAlertmanager) (*alertmanager, error) {
	pool, err := authorities(dir, a.CA)
	if err != nil {
		return nil, fmt.Errorf("alertmanager.%w", err)
	}
	return &alertmanager{
		url:        strings.TrimRight(a.URL, "/") + "/api/v2/alerts",
		controller: controller,
		client:     newClient(pool),
	}, nil
}

func (a *alertmanager) kind() string    { return "alertmanager" }
func (a *alertmanager) address() string { return serverOf(a.url) }
func (a *alertmanager) group() group    { return group{wait: time.Second, most: 100} }

// alert is one of the API. Its labels are its identity: the same alert keeps them until it ends.
type alert struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations,omitempty"`
	StartsAt    time.Time         `json:"startsAt"`
	EndsAt      time.Time         `json:"endsAt"`
}

func (a *alertmanager) send(ctx context.Context, m *Message) error {
	var all []alert
	for _, e := range m.Events {
		if e.Before != "" { // the one with the other label ends
			was := e
			was.Severity = e.Before
			all = append(all, a.alertOf(&was, e.Time))
		}
		ends := e.Expires
		switch e.Event {
		case cleared:
			ends = e.Time
		case acknowledged: // nobody is reminded of it any more
			ends = e.Time.Add(keepUnrepeated)
		}
		all = append(all, a.alertOf(&e, ends))
	}
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return post(ctx, a.client, a.url, nil, text)
}

func (a *alertmanager) alertOf(e *Event, ends time.Time) alert {
	out := alert{
		Labels: map[string]string{
			"alertname":  e.Kind,
			"controller": a.controller,
			"resource":   e.Resource,
			"severity":   e.Severity,
			"trouble":    e.Trouble,
		},
		Annotations: map[string]string{
			"summary":     e.Subject,
			"description": e.Cause,
			"remedy":      e.Remedy,
			"id":          e.ID,
		},
		StartsAt: e.Since,
		EndsAt:   ends,
	}
	for name, value := range map[string]string{"node": e.Node, "topology": e.Topology} {
		if value != "" {
			out.Labels[name] = value
		}
	}
	if e.By != "" {
		out.Annotations["acknowledged"] = "by " + e.By
	}
	return out
}
