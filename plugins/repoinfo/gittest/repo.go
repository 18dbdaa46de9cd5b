// Package gittest builds repositories with fixed dates through real git, for
// the tests of this plugin and for its benchmark. Not for the plugin itself.
package gittest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Repo is a bare repository that a test builds.
type Repo struct {
	Dir string
	t   testing.TB
}

// New makes an empty bare repository at dir, with HEAD on master.
func New(t testing.TB, dir string, options ...string) *Repo {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	r := &Repo{Dir: dir, t: t}
	r.runGit("", append([]string{"init", "--quiet", "--bare", "--initial-branch=master"}, append(options, dir)...)...)
	return r
}

// Open takes a bare repository that exists, for tests that only read it.
func Open(t testing.TB, dir string) *Repo {
	return &Repo{Dir: dir, t: t}
}

// Git runs git on the repository and returns what it printed.
func (r *Repo) Git(args ...string) string {
	r.t.Helper()
	return r.runGit("", append([]string{"--git-dir=" + r.Dir}, args...)...)
}

// TryGit runs git on the repository and returns what it printed, or why it failed.
func (r *Repo) TryGit(args ...string) (string, error) {
	r.t.Helper()
	return r.try("", append([]string{"--git-dir=" + r.Dir}, args...)...)
}

// Import feeds a stream to git fast-import.
func (r *Repo) Import(stream string) {
	r.t.Helper()
	r.runGit(stream, "--git-dir="+r.Dir, "fast-import", "--quiet", "--force", "--date-format=raw")
}

// Explode makes every object of the repository a loose one, so that a test can
// remove a single one.
func (r *Repo) Explode() {
	r.t.Helper()
	packs, err := filepath.Glob(filepath.Join(r.Dir, "objects", "pack", "*.pack"))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, p := range packs {
		data, err := os.ReadFile(p)
		if err != nil {
			r.t.Fatal(err)
		}
		for _, ext := range []string{".pack", ".idx", ".rev"} {
			_ = os.Remove(strings.TrimSuffix(p, ".pack") + ext)
		}
		r.runGit(string(data), "--git-dir="+r.Dir, "unpack-objects", "-q")
	}
}

// PackBranches adds n branches at a commit, packed: b00000, b00001, …
func (r *Repo) PackBranches(n int, commit string) {
	r.t.Helper()
	r.Git("pack-refs", "--all")
	path := filepath.Join(r.Dir, "packed-refs")
	old, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	var b strings.Builder
	head, rest, _ := strings.Cut(string(old), "\n")
	b.WriteString(head + "\n")
	for i := range n {
		fmt.Fprintf(&b, "%s refs/heads/b%05d\n", commit, i)
	}
	b.WriteString(rest)
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// Head returns the hash a reference names.
func (r *Repo) Head(ref string) string {
	r.t.Helper()
	return strings.TrimSpace(r.Git("rev-parse", "--verify", ref+"^{commit}"))
}

func (r *Repo) runGit(stdin string, args ...string) string {
	r.t.Helper()
	out, err := r.try(stdin, args...)
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

func (r *Repo) try(stdin string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"LC_ALL=C", "TZ=UTC",
		"GIT_AUTHOR_NAME=T", "GIT_AUTHOR_EMAIL=t@example.org", "GIT_COMMITTER_NAME=T", "GIT_COMMITTER_EMAIL=t@example.org",
		"GIT_AUTHOR_DATE=1500000000 +0000", "GIT_COMMITTER_DATE=1500000000 +0000"}
	cmd.Stdin = strings.NewReader(stdin)
	var out, words bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &words
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, words.String())
	}
	return out.String(), nil
}

// Stream builds the input of git fast-import.
type Stream struct {
	b    strings.Builder
	mark int
	when int64
}

// Commit is one commit of a Stream. Empty names and dates have fixed defaults.
type Commit struct {
	Branch    string // master when empty
	Author    string // "Name <mail>"
	Committer string
	Zone      string // +0000 when empty
	When      int64  // seconds since the epoch; 0 = a minute after the last
	Encoding  string
	Message   string
	Parents   []int             // marks; nil = the branch's head
	Root      bool              // no parent at all
	Files     map[string]string // path → content; "" deletes
	Lines     []string          // further commands, as they stand
}

// Add adds a commit and returns its mark. Each is a minute later than the last.
func (s *Stream) Add(c Commit) int {
	s.mark++
	s.when += 60
	def := func(v, d string) string {
		if v == "" {
			return d
		}
		return v
	}
	branch := "refs/heads/" + def(c.Branch, "master")
	if c.Root || c.Parents != nil {
		fmt.Fprintf(&s.b, "reset %s\n", branch)
	}
	fmt.Fprintf(&s.b, "commit %s\nmark :%d\n", branch, s.mark)
	when := 1_500_000_000 + s.when
	if c.When != 0 {
		when = c.When
	}
	date := fmt.Sprintf("%d %s", when, def(c.Zone, "+0000"))
	fmt.Fprintf(&s.b, "author %s %s\n", def(c.Author, "Ann <ann@example.org>"), date)
	fmt.Fprintf(&s.b, "committer %s %s\n", def(c.Committer, "Bob <bob@example.net>"), date)
	if c.Encoding != "" {
		fmt.Fprintf(&s.b, "encoding %s\n", c.Encoding)
	}
	message := def(c.Message, fmt.Sprintf("Change %d\n", s.mark))
	fmt.Fprintf(&s.b, "data %d\n%s\n", len(message), message)
	for i, p := range c.Parents {
		fmt.Fprintf(&s.b, "%s :%d\n", map[bool]string{
			true:  "from",
			false: "merge",
		}[i == 0], p)
	}
	for path, text := range c.Files {
		if text == "" {
			fmt.Fprintf(&s.b, "D %q\n", path)
			continue
		}
		fmt.Fprintf(&s.b, "M 644 inline %s\ndata %d\n%s\n", quotePath(path), len(text), text)
	}
	for _, l := range c.Lines {
		s.b.WriteString(l + "\n")
	}
	s.b.WriteString("\n")
	return s.mark
}

// Raw adds commands as they stand.
func (s *Stream) Raw(text string) { s.b.WriteString(text) }

// String returns the stream.
func (s *Stream) String() string { return s.b.String() }

func quotePath(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(path) + `"`
}

// Serve serves the repositories below root over git's smart HTTP protocol. When
// header is set, requests without this Authorization are refused.
func Serve(t testing.TB, root, header string) *httptest.Server {
	t.Helper()
	core, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	backend := &cgi.Handler{
		Path:   filepath.Join(strings.TrimSpace(string(core)), "git-http-backend"),
		Env:    []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1"},
		Stderr: io.Discard,
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if header != "" && r.Header.Get("Authorization") != header {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv
}
