//go:build peers

package reviewpeers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ctl.internal/test/harness"
)

// patience bounds everything that the server is waited for: it is slow to start.
const patience = 5 * time.Minute

// bin holds the programs, built once from this tree.
var bin string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if len(java()) == 0 {
		return m.Run() // it skips
	}
	dir, err := os.MkdirTemp("", "ctl-review")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	bin = dir
	if out, err := harness.Build("../../..", dir); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// java is how the server is run, or empty when none is named.
func java() []string {
	// Old servers reach into what Java hides since.
	args := []string{"-Xmx512m", "--add-opens=java.base/java.lang=ALL-UNNAMED", "--add-opens=java.base/java.util=ALL-UNNAMED"}
	if war := os.Getenv("GERRIT_WAR"); war != "" {
		return append(args, "-jar", war)
	}
	if dir := os.Getenv("GERRIT_JARS"); dir != "" {
		return append(args, "-cp", filepath.Join(dir, "*"), "com.google.gerrit.launcher.GerritLauncher")
	}
	return nil
}

// gerrit is a server on a site of its own, with one account: admin, password secret.
type gerrit struct {
	URL string // with final "/"

	site string
	cmd  *exec.Cmd
	done chan struct{}
}

// newGerrit makes a site and serves it until the test ends.
func newGerrit(t *testing.T) *gerrit {
	t.Helper()
	if len(java()) == 0 {
		t.Skip("SKIPPED, NOT TESTED: the peer Gerrit is not named: test/peers/review/gerrit.sh DIR fetches it (Maven, 80 MB), then GERRIT_JARS=DIR; or GERRIT_WAR names a gerrit.war")
	}
	if _, err := exec.LookPath("java"); err != nil {
		t.Skip("SKIPPED, NOT TESTED: the peer java is not installed (test/peers/install.sh installs it as root)")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gerrit{URL: "http://" + l.Addr().String() + "/", site: filepath.Join(t.TempDir(), "site")}
	l.Close()
	must(t, "", "java", append(java(), "init", "-d", g.site, "--batch", "--dev", "--no-auto-start", "--skip-plugins")...)
	for key, value := range map[string]string{"httpd.listenUrl": g.URL, "gerrit.canonicalWebUrl": g.URL, "sshd.listenAddress": "off"} {
		must(t, "", "git", "config", "--file", filepath.Join(g.site, "etc", "gerrit.config"), key, value)
	}
	g.serve(t)
	t.Cleanup(func() { g.kill() })
	return g
}

func (g *gerrit) serve(t *testing.T) {
	t.Helper()
	g.cmd = exec.Command("java", append(java(), "daemon", "-d", g.site, "--console-log", "--headless")...)
	g.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	log, err := os.Create(filepath.Join(t.TempDir(), "gerrit.log"))
	if err != nil {
		t.Fatal(err)
	}
	g.cmd.Stdout, g.cmd.Stderr = log, log
	if err := g.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	g.done = make(chan struct{})
	go func(cmd *exec.Cmd, done chan struct{}) { _ = cmd.Wait(); log.Close(); close(done) }(g.cmd, g.done)
	deadline, tick := time.After(patience), time.NewTicker(200*time.Millisecond)
	defer tick.Stop()
	for {
		if status, _, err := g.send("GET", "config/server/version", nil); err == nil && status == 200 {
			return
		}
		select {
		case <-tick.C:
			continue
		case <-g.done:
		case <-deadline:
		}
		text, _ := os.ReadFile(log.Name())
		t.Fatalf("Gerrit does not serve at %s:\n%.20000s", g.URL, text)
	}
}

func (g *gerrit) kill() {
	_ = g.cmd.Process.Kill()
	<-g.done
}

// stop ends the server in peace; one that is killed may forget what it found.
func (g *gerrit) stop(t *testing.T) {
	t.Helper()
	g.signal(t, syscall.SIGTERM)
	select {
	case <-g.done:
	case <-time.After(patience):
		t.Fatal("Gerrit does not stop")
	}
}

func (g *gerrit) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := g.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// send asks as admin.
func (g *gerrit) send(method, path string, body any) (status int, answer []byte, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return 0, nil, err
		}
		content = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, g.URL+"a/"+path, content)
	if err != nil {
		return 0, nil, err
	}
	r.SetBasicAuth("admin", "secret")
	r.Header.Set("Accept", "application/json")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	answer, err = io.ReadAll(res.Body)
	return res.StatusCode, bytes.TrimPrefix(answer, []byte(")]}'\n")), err
}

// call is send that must succeed.
func (g *gerrit) call(t *testing.T, method, path string, body any) []byte {
	t.Helper()
	status, answer, err := g.send(method, path, body)
	if err != nil || status >= 300 {
		t.Fatalf("%s %s: %d %s %v", method, path, status, answer, err)
	}
	return answer
}

type object = map[string]any

func (g *gerrit) project(t *testing.T, name string) {
	t.Helper()
	g.call(t, "PUT", "projects/"+escaped(name), object{"create_empty_commit": true})
}

// change pushes one commit for review from a clone and returns the number it got.
func (g *gerrit) change(t *testing.T, clone, branch, subject string) string {
	t.Helper()
	git(t, clone, "fetch", "--quiet", "origin")
	git(t, clone, "checkout", "--quiet", "-B", "work", "origin/"+branch)
	if err := os.WriteFile(filepath.Join(clone, escaped(subject)), []byte(subject+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, clone, "add", ".")
	git(t, clone, "commit", "--quiet", "-m", subject+"\n\nChange-Id: I"+fmt.Sprintf("%040x", len(subject)*7919+int(subject[len(subject)-1])))
	out := git(t, clone, "push", "origin", "HEAD:refs/for/"+branch)
	for word := range strings.FieldsSeq(out) {
		if strings.HasPrefix(word, g.URL) {
			return word[strings.LastIndex(word, "/")+1:]
		}
	}
	t.Fatalf("the push names no change:\n%s", out)
	return ""
}

// merge approves a change and submits it.
func (g *gerrit) merge(t *testing.T, number string) {
	t.Helper()
	g.call(t, "POST", "changes/"+number+"/revisions/current/review", object{"labels": object{"Code-Review": 2}})
	g.call(t, "POST", "changes/"+number+"/submit", object{})
}

// clone makes a work tree of a project.
func (g *gerrit) clone(t *testing.T, project string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clone")
	must(t, "", "git", "clone", "--quiet", strings.Replace(g.URL, "//", "//admin:secret@", 1)+"a/"+escaped(project), dir)
	git(t, dir, "config", "user.name", "Administrator")
	git(t, dir, "config", "user.email", "admin@example.com")
	return dir
}

func escaped(name string) string { return strings.ReplaceAll(url.PathEscape(name), "+", "%2B") }

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	return must(t, dir, "git", args...)
}

// must runs a program that has to succeed and returns all that it printed.
func must(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}
