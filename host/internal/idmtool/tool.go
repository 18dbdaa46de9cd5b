// Package idmtool is the client of etc/idmtool: it manages users, roles and
// grants through /auth/v1 and knows nothing else of the controller. The shell's
// aaa: commands do the same inside; they are in aaa/shell.
package idmtool

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ctl.internal/internal/console"
)

const (
	timeout   = 30 * time.Second
	maxAnswer = 64 << 20
)

// tool is one run: where to send requests and as whom.
type tool struct {
	env      Env
	in       *bufio.Reader
	base     string
	client   *http.Client
	user     string
	password string
}

func newTool(ctx context.Context, o options, env Env) (*tool, error) {
	base, err := baseURL(o.target, env)
	if err != nil {
		return nil, err
	}
	server, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	local := isThisMachine(ctx, server.Hostname(), resolveName)
	if server.Scheme == "http" && !local {
		fmt.Fprintf(env.Stderr, "Warning: %s is another machine and not encrypted: the password can be read on the way; "+
			"use --target-host https://%s\n", base, server.Hostname())
	}
	verified := verifier{host: server.Hostname()}
	if local {
		verified.home = homeOf(env)
	}
	config := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true,
	} // verifier does it
	if !o.insecure {
		config.VerifyConnection = verified.verify
	}
	tr := &http.Transport{
		TLSClientConfig:   config,
		DisableKeepAlives: true,
	}
	t := &tool{
		env:  env,
		in:   bufio.NewReader(env.Stdin),
		base: base,
		user: o.user,
	}
	t.client = &http.Client{
		Transport: tr,
		Timeout:   timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return errors.New("the server redirects; credentials are not sent on")
		},
	}
	return t, nil
}

// baseURL is the controller's address: the one given, or that of the controller
// whose home this is, or the documented default.
func baseURL(target string, env Env) (string, error) {
	if target == "" {
		target = runningAddress(env)
	}
	if target == "" {
		return "http://127.0.0.1:8181/", nil
	}
	if !strings.Contains(target, "://") {
		target = "http://" + target
	}
	u, err := url.Parse(target)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", errors.New("--target-host takes a host, host:port or http(s) URL")
	}
	if u.Port() == "" {
		port := map[string]string{
			"http":  "8181",
			"https": "8443",
		}[u.Scheme]
		u.Host = net.JoinHostPort(u.Hostname(), port)
	}
	return strings.TrimSuffix(u.String(), "/") + "/", nil
}

// homeOf is the home of the controller of this machine.
func homeOf(env Env) string {
	return cmp.Or(env.Getenv("CTL_HOME"), console.DefaultHome())
}

// runningAddress reads what a running controller wrote into its home. HTTPS is preferred where its certificate is known.
func runningAddress(env Env) string {
	home := homeOf(env)
	schemes := []string{"http", "https"}
	if homeCertificate(home) != nil {
		schemes = []string{"https", "http"}
	}
	for _, scheme := range schemes {
		b, err := os.ReadFile(filepath.Join(home, "data", "run", scheme+".addr"))
		a := strings.TrimSpace(string(b))
		if err == nil && a != "" && len(a) < 256 {
			return scheme + "://" + strings.TrimPrefix(strings.TrimPrefix(a, "http://"), "https://")
		}
	}
	return ""
}

// askSecret prompts for a secret; the prompt is not part of the output.
func (t *tool) askSecret(prompt string) (string, error) {
	fmt.Fprint(t.env.Stderr, prompt)
	if t.env.ReadPassword != nil {
		s, err := t.env.ReadPassword()
		fmt.Fprintln(t.env.Stderr)
		return s, err
	}
	line, err := t.in.ReadString('\n')
	if err != nil && line == "" {
		fmt.Fprintln(t.env.Stderr)
		return "", errors.New("no password was given: the input has ended")
	}
	return strings.TrimRight(line, "\r\n"), nil
}

// askNew prompts twice for a new password.
func (t *tool) askNew(request string) (string, error) {
	first, err := t.askSecret("Enter new password: ")
	if err != nil {
		return "", err
	}
	second, err := t.askSecret("Re-enter password: ")
	if err != nil {
		return "", err
	}
	if first != second {
		return "", failure("Passwords did not match;  cancelling the " + request + " request")
	}
	return first, nil
}

// runRequest sends the request of a command and prints its outcome.
func (t *tool) runRequest(ctx context.Context, c request) error {
	if c.newPassword != "" {
		password, err := t.askNew(c.newPassword)
		if err != nil {
			return err
		}
		c.body["password"] = password
	}
	fmt.Fprintln(t.env.Stdout, c.said)
	var content io.Reader
	if c.body != nil {
		data, err := json.Marshal(c.body)
		if err != nil {
			return err
		}
		content = bytes.NewReader(data)
	}
	r, err := http.NewRequestWithContext(ctx, c.method, t.base+c.path, content)
	if err != nil {
		return err
	}
	r.SetBasicAuth(t.user, t.password)
	r.Header.Set("Accept", "application/json")
	if c.body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := t.client.Do(r)
	if err != nil {
		return t.unreachableError(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return t.unreachableError(err)
	}
	if len(data) > maxAnswer {
		return errors.New("the answer is too large")
	}
	return t.showResponse(resp.StatusCode, data)
}

// failure is a sentence for the user, as the script says it.
type failure string

func (f failure) Error() string { return string(f) }

func (t *tool) unreachableError(err error) error {
	var cert *tls.CertificateVerificationError
	if errors.As(err, &cert) {
		return failure(fmt.Sprintf(
			"The certificate of %s cannot be verified (%v); -k accepts it unverified",
			t.base,
			cert.Err,
		))
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return failure(fmt.Sprintf(
		"Unable to connect to %s: %v; is the controller running? --target-host names another one",
		t.base,
		err,
	))
}

// showResponse prints the outcome of a request.
func (t *tool) showResponse(status int, data []byte) error {
	var v any
	err := json.Unmarshal(data, &v)
	if status/100 == 2 {
		fmt.Fprintln(t.env.Stdout, "\ncommand succeeded!")
		if err == nil {
			fmt.Fprintln(t.env.Stdout, "\njson:")
			e := json.NewEncoder(t.env.Stdout)
			e.SetEscapeHTML(false)
			e.SetIndent("", "    ")
			return e.Encode(v) // a map's keys are sorted
		}
		return nil
	}
	details := ""
	if o, ok := v.(map[string]any); ok {
		details, _ = o["details"].(string)
	}
	text := fmt.Sprintf("\ncommand failed! HTTP status code: %d", status)
	if status == http.StatusUnauthorized {
		text = "\nIncorrect Credentials Provided"
	}
	if details != "" { // such as whether the login is wrong or a role is missing
		text += "\n" + printableText(details)
	}
	return failure(text)
}

// printableText keeps a server's text from moving the cursor.
func printableText(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
}
