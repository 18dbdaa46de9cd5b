package idmtool_test

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/password"
	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/host/internal/idmtool"
)

// controller starts the real services behind the real filter.
func controller(t *testing.T) http.Handler {
	t.Helper()
	store := storetest.New(storetest.Options{})
	t.Cleanup(func() { store.Close() })
	a, err := aaa.New(context.Background(), aaa.Options{
		Store: store, SecINI: []byte("[urls]\n/auth/v1/** = authcBasic, roles[admin]\n/** = authcBasic\n"),
		First:     identity.First{Admin: "admin", User: "user"},
		Passwords: password.Params{MemoryKiB: 64, Time: 1, Threads: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	return a.Filter(a.Handler())
}

type outcome struct {
	code        int
	out, prompt string
}

// run runs the tool as in a pipe: each input is a line.
func run(t *testing.T, url string, args []string, input ...string) outcome {
	t.Helper()
	var out, errs bytes.Buffer
	env := idmtool.Env{
		Stdin: strings.NewReader(strings.Join(input, "\n") + "\n"), Stdout: &out, Stderr: &errs,
		Getenv: func(string) string { return "" },
	}
	if url != "" {
		args = append([]string{"--target-host", url}, args...)
	}
	code := idmtool.Run(context.Background(), args, env)
	return outcome{code, out.String(), errs.String()}
}

func words(s string) []string { return strings.Fields(s) }

func TestEveryCommand(t *testing.T) {
	s := httptest.NewServer(controller(t))
	defer s.Close()
	for _, c := range []struct {
		args   string
		input  []string
		prompt string
		out    string
	}{
		{"admin list-users", nil, "Password: ", "list_users\n\ncommand succeeded!\n\njson:\n{\n    \"users\": [\n        {\n            \"description\": \"admin user\",\n            \"domainid\": \"sdn\",\n            \"email\": \"\",\n            \"enabled\": true,\n            \"name\": \"admin\",\n            \"password\": \"**********\",\n            \"salt\": \"**********\",\n            \"userid\": \"admin@sdn\"\n        },"},
		{"admin add-user bob", []string{"password1", "password1"}, "Password: Enter new password: Re-enter password: ", "add_user(admin)\n\ncommand succeeded!\n\njson:\n{\n    \"description\": \"\",\n    \"domainid\": \"sdn\","},
		{"admin change-password bob@sdn", []string{"password2", "password2"}, "Password: Enter new password: Re-enter password: ", "change_password(admin)\n\ncommand succeeded!"},
		{"admin list-domains", nil, "", "list_domains\n\ncommand succeeded!"},
		{"admin list-roles", nil, "", "list_roles\n\ncommand succeeded!"},
		{"admin add-role ops", nil, "", "add_role(ops)\n\ncommand succeeded!"},
		{"admin add-grant bob@sdn ops@sdn", nil, "", "add_grant(userid=bob@sdn,roleid=ops@sdn)\n\ncommand succeeded!\n\njson:\n{\n    \"domainid\": \"sdn\",\n    \"grantid\": \"bob@sdn@ops@sdn@sdn\","},
		{"admin get-grants bob@sdn", nil, "", "get_grants(bob@sdn)\n\ncommand succeeded!\n\njson:\n{\n    \"roles\": ["},
		{"admin delete-grant bob@sdn ops@sdn", nil, "", s.URL + "/auth/v1/domains/sdn/users/bob@sdn/roles/ops@sdn\ndelete_grant(userid=bob@sdn,roleid=ops@sdn)\n\ncommand succeeded!\n"},
		{"admin delete-role ops@sdn", nil, "", "delete_role(ops@sdn)\n\ncommand succeeded!\n"},
		{"admin delete-user bob@sdn", nil, "", "delete_user(bob@sdn)\n\ncommand succeeded!\n"},
	} {
		o := run(t, s.URL, words(c.args), append([]string{"admin"}, c.input...)...)
		if o.code != 0 || !strings.HasPrefix(o.out, c.out) || !strings.HasPrefix(o.prompt, c.prompt) {
			t.Errorf("%s: exit %d, prompts %q\n%s\nwant\n%s", c.args, o.code, o.prompt, o.out, c.out)
		}
		if strings.Contains(o.out+o.prompt, "password1") || strings.Contains(o.out+o.prompt, "password2") {
			t.Errorf("%s shows a password", c.args)
		}
	}
}

func TestFailuresExitWithOne(t *testing.T) {
	s := httptest.NewServer(controller(t))
	defer s.Close()
	for _, c := range []struct {
		args  string
		input []string
		out   string
	}{
		{"admin list-users", []string{"wrong"}, "Incorrect Credentials Provided"},
		{"user list-users", []string{"user"}, "Incorrect Credentials Provided\nthis needs a role or permission that the user does not have"},
		{"admin delete-user none@sdn", []string{"admin"}, "HTTP status code: 404\nuser none@sdn does not exist"},
		{"admin delete-user admin@sdn", []string{"admin"}, "HTTP status code: 409\nthis is the last enabled administrator"},
		{"admin change-password none@sdn", []string{"admin", "password1", "password1"}, "HTTP status code: 404"},
		{"admin add-user bob", []string{"admin", "password1", "password2"}, "Passwords did not match;  cancelling the add_user request"},
		{"admin add-user bob", []string{"admin", "short", "short"}, "at least 8 characters"},
		{"admin add-user bob", []string{"admin"}, "the input has ended"},
	} {
		if o := run(t, s.URL, words(c.args), c.input...); o.code != 1 || !strings.Contains(o.out, c.out) {
			t.Errorf("%s: exit %d, %s, want %q", c.args, o.code, o.out, c.out)
		}
	}
}

func TestUsage(t *testing.T) {
	for args, want := range map[string]int{
		"-h": 0, "--help": 0, "": 1, "admin": 1, "admin list-user": 2, "admin add-user": 2, "admin list-users x": 2,
		"--colour admin list-users": 2, "--target-host": 2, "--target-host ftp://x admin list-users": 2,
	} {
		o := run(t, "", words(args))
		if o.code != want {
			t.Errorf("%q: exit %d, want %d\n%s%s", args, o.code, want, o.out, o.prompt)
		}
		if want == 2 && !strings.HasPrefix(o.prompt, "usage: idmtool") && !strings.HasPrefix(o.prompt, "idmtool: error") {
			t.Errorf("%q: %s", args, o.prompt)
		}
	}
	if o := run(t, "", words("admin list-user")); !strings.Contains(o.prompt, `did you mean "list-users"?`) {
		t.Error(o.prompt)
	}
}

func TestCertificateIsVerifiedUnlessToldOtherwise(t *testing.T) {
	s := httptest.NewTLSServer(controller(t))
	defer s.Close()
	if o := run(t, s.URL, words("admin list-roles"), "admin"); o.code != 1 || !strings.Contains(o.out, "-k accepts it unverified") {
		t.Errorf("exit %d, %s", o.code, o.out)
	}
	if o := run(t, s.URL, words("admin list-roles -k"), "admin"); o.code != 0 || !strings.Contains(o.prompt, "not verified") {
		t.Errorf("exit %d, %s%s", o.code, o.out, o.prompt)
	}
}

// The certificate of the home's own controller is accepted on the same machine, and no other one.
func TestTheCertificateOfTheHomeIsAccepted(t *testing.T) {
	s := httptest.NewTLSServer(controller(t))
	defer s.Close()
	home := t.TempDir()
	dir := filepath.Join(home, "data", "run")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	address := []byte(strings.TrimPrefix(s.URL, "https://") + "\n")
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "https.pem"), text, 0o600),
		os.WriteFile(filepath.Join(dir, "https.addr"), address, 0o600), os.WriteFile(filepath.Join(dir, "http.addr"), []byte("127.0.0.1:1\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	ask := func(args string) (int, string) {
		var out, errs bytes.Buffer
		code := idmtool.Run(context.Background(), words(args), idmtool.Env{
			Stdin: strings.NewReader("admin\n"), Stdout: &out, Stderr: &errs,
			Getenv: func(k string) string { return map[string]string{"CTL_HOME": home}[k] },
		})
		return code, out.String() + errs.String()
	}
	for _, args := range []string{"admin list-roles", "--target-host " + s.URL + " admin list-roles"} {
		if code, said := ask(args); code != 0 || strings.Contains(said, "Warning") {
			t.Errorf("%s: exit %d, %s", args, code, said)
		}
	}
	text[len(text)/2] ^= 1
	if err := os.WriteFile(filepath.Join(dir, "https.pem"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, said := ask("--target-host " + s.URL + " admin list-roles"); code != 1 || !strings.Contains(said, "cannot be verified") {
		t.Errorf("another certificate: exit %d, %s", code, said)
	}
}

func TestAPasswordThatCanBeReadOnTheWayIsWarnedOf(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // nothing is sent
	for target, want := range map[string]bool{"192.0.2.1": true, "http://[2001:db8::1]:81": true, "https://192.0.2.1": false,
		"localhost": false, "127.0.0.9:8181": false, "[::1]": false, "0.0.0.0": false, "http://lab.localhost": false} {
		var errs bytes.Buffer
		idmtool.Run(ctx, []string{"--target-host", target, "admin", "list-roles"}, idmtool.Env{
			Stdin: strings.NewReader("admin\n"), Stdout: io.Discard, Stderr: &errs, Getenv: func(string) string { return "" },
		})
		if got := strings.Contains(errs.String(), "the password can be read"); got != want {
			t.Errorf("%s: %v, want %v: %s", target, got, want, errs.String())
		}
	}
}

func TestServerThatIsNotThere(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	if o := run(t, s.URL, words("admin list-roles"), "admin"); o.code != 1 || !strings.Contains(o.out, "Unable to connect to "+s.URL) {
		t.Errorf("exit %d, %s", o.code, o.out)
	}
	moved := httptest.NewServer(http.RedirectHandler("http://127.0.0.1:1/", http.StatusFound))
	defer moved.Close()
	if o := run(t, moved.URL, words("admin list-roles"), "admin"); o.code != 1 || !strings.Contains(o.out, "redirects") {
		t.Errorf("credentials follow a redirect: %s", o.out)
	}
}

func TestFindsTheRunningController(t *testing.T) {
	s := httptest.NewServer(controller(t))
	defer s.Close()
	home := t.TempDir()
	dir := filepath.Join(home, "data", "run")
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "http.addr"), []byte(strings.TrimPrefix(s.URL, "http://")+"\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	typed := []string{"admin"}
	code := idmtool.Run(context.Background(), words("admin list-roles"), idmtool.Env{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &bytes.Buffer{},
		Getenv:       func(k string) string { return map[string]string{"CTL_HOME": home}[k] },
		ReadPassword: func() (string, error) { p := typed[0]; typed = typed[1:]; return p, nil },
	})
	if code != 0 || len(typed) != 0 {
		t.Errorf("exit %d, %s", code, out.String())
	}
}
