package api

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ctl.internal/plugins/repoinfo/clones"
	"ctl.internal/plugins/repoinfo/counts"
	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/plugins/repoinfo/gittest"
	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/plugins/repoinfo/jobs"
	"ctl.internal/plugins/repoinfo/people"
	"ctl.internal/plugins/repoinfo/release"
	"ctl.internal/plugins/repoinfo/report"
	"ctl.internal/plugins/repoinfo/review"
	"ctl.internal/plugins/repoinfo/syncer"
	"ctl.internal/plugins/repoinfo/turns"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// site is an API over a folder of clones that a test fills.
type site struct {
	*API
	t   *testing.T
	dir string
	srv *httptest.Server
}

func newSite(t *testing.T, change ...func(*API)) *site {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clones")
	git := &gitcmd.Git{}
	folder, err := clones.NewFolder(dir, git)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	store := jobs.Open(t.TempDir(), 64<<20, log)
	lister := &history.Lister{Counts: counts.NewTable(store), Jobs: store, MessageLimit: 1 << 20}
	directory, err := people.New("", "")
	if err != nil {
		t.Fatal(err)
	}
	a := &API{Folder: folder, Lister: lister, Jobs: store, Log: log, Skip: true, MaxPage: 1000, Timeout: time.Minute,
		Turns:   &turns.Queue{Places: 4, Started: 4, Waiting: 100, Total: 400, Slice: 50 * time.Millisecond},
		Reports: &report.Maker{Folder: folder, Lister: lister, People: directory, Timeout: time.Minute},
		Syncer:  syncer.New(syncer.Options{Folder: folder, Lister: lister, Log: log}), Secret: []byte("secret")}
	a.Releases = &release.Maker{Reports: a.Reports}
	for _, c := range change {
		c(a)
	}
	s := &site{API: a, t: t, dir: dir, srv: httptest.NewServer(a.Handler())}
	t.Cleanup(func() {
		s.srv.Close()
		store.Close()
	})
	return s
}

func (s *site) zoo(project string) *gittest.Repo {
	return gittest.Zoo(s.t, filepath.Join(s.dir, project+".git"))
}

// get asks and returns the answer with its body.
func (s *site) get(path string, header ...string) (*http.Response, []byte) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.srv.URL+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	client := &http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res, body
}

// ok asks for an answer of 200 and decodes it.
func (s *site) ok(path string, into any) *http.Response {
	s.t.Helper()
	res, body := s.get(path)
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != typeJSON {
		s.t.Fatalf("%s: %d %s %s", path, res.StatusCode, res.Header.Get("Content-Type"), body)
	}
	if err := json.Unmarshal(body, into); err != nil {
		s.t.Fatalf("%s: %v in %.300s", path, err, body)
	}
	return res
}

type page struct {
	Commits []struct {
		Hash, Project string
		AuthorEmail   string `json:"author_email"`
		Lines         *struct{ Insertions, Deletions, Files, Lines int }
	}
}

func (c page) hashes() []string {
	list := []string{}
	for _, x := range c.Commits {
		list = append(list, x.Hash)
	}
	return list
}

func withReview(t *testing.T, timeout time.Duration, h http.HandlerFunc) func(*API) {
	t.Helper()
	srv := httptest.NewServer(h)
	c, err := review.New(review.Options{URL: srv.URL, Timeout: timeout, Budget: 3 * timeout, Tries: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); srv.Close() })
	return func(a *API) { a.Review = c }
}
