package api

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ctl.internal/plugins/repoinfo/clones"
	"ctl.internal/plugins/repoinfo/gittest"
)

func TestSixtyFourClientsOneWalk(t *testing.T) {
	s := newSite(t)
	gittest.Long(t, filepath.Join(s.dir, "long.git"), 3000)
	calls := s.spy()
	bodies := make([][]byte, 64)
	var all sync.WaitGroup
	for i := range bodies {
		all.Go(func() { _, bodies[i] = s.get("/git/commits?project=long") })
	}
	all.Wait()
	for _, b := range bodies {
		if !bytes.Equal(b, bodies[0]) || bytes.Count(b, []byte(`"hash"`)) != 3000 {
			t.Fatalf("answers differ, or %d commits", bytes.Count(b, []byte(`"hash"`)))
		}
	}
	walks, counters := 0, 0
	for _, c := range calls() {
		if strings.Contains(c, " rev-list ") {
			walks++
			if !strings.Contains(c, "--end-of-options") {
				t.Errorf("arguments without a guard: %s", c)
			}
		}
		if strings.Contains(c, " diff-tree ") {
			counters++
		}
	}
	if walks != 1 || counters > 8 {
		t.Errorf("%d walks, %d counters for 64 clients", walks, counters)
	}
}

func TestChildrenEndWithTheirRequest(t *testing.T) {
	s := newSite(t)
	dir := t.TempDir()
	pipe, script := filepath.Join(dir, "ended"), filepath.Join(dir, "git")
	// a git that hangs: it says that it began, and its end closes the file
	text := "#!/bin/sh\ncase \"$*\" in *' rev-list '*) exec 9>" + pipe + "; echo began >&9; exec sleep 600;; esac\nexec git \"$@\"\n"
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	fifo(t, pipe)
	s.zoo("zoo")
	s.git().Path = script
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.srv.URL+"/git/commits?project=zoo", nil)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		res, err := s.srv.Client().Do(req)
		if err == nil {
			_ = res.Body.Close()
		}
		done <- err
	}()
	r, err := os.Open(pipe)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if _, err := io.ReadFull(r, make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if rest, err := io.ReadAll(r); err != nil || len(rest) != 0 { // ends only when the child has
		t.Errorf("%q, %v", rest, err)
	}
	if err := <-done; err == nil {
		t.Error("the request ended well")
	}
}

func TestSyncDuringARead(t *testing.T) {
	s := newSite(t)
	origin := gittest.Long(t, filepath.Join(t.TempDir(), "o.git"), 2000)
	src := clones.Source{Project: "m", URL: origin.Dir}
	if _, err := s.Folder.Mirror(t.Context(), src, time.Minute); err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.srv.URL+"/git/commits?project=m", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.srv.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	start := make([]byte, 1000)
	if _, err := io.ReadFull(res.Body, start); err != nil {
		t.Fatal(err)
	}
	origin.Git("update-ref", "refs/heads/master", origin.Head("master~1500")) // a forced push while somebody reads
	if changed, err := s.Folder.Mirror(t.Context(), src, time.Minute); err != nil || !changed {
		t.Fatal(changed, err)
	}
	rest, err := io.ReadAll(res.Body)
	if n := bytes.Count(append(start, rest...), []byte(`"hash"`)); err != nil || n != 2000 {
		t.Errorf("%d commits, %v", n, err)
	}
	var after page
	s.ok("/git/commits?project=m", &after)
	if len(after.Commits) != 500 {
		t.Errorf("%d commits after the sync", len(after.Commits))
	}
}

func TestAMissingObjectCostsOneCount(t *testing.T) {
	s := newSite(t)
	g := gittest.Long(t, filepath.Join(s.dir, "l.git"), 50)
	lost := g.Head("master~20")
	blob := strings.Fields(g.Git("diff-tree", "-r", "--no-commit-id", lost))[3]
	g.Explode()
	if err := os.Remove(filepath.Join(g.Dir, "objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var got page
		s.ok("/git/commits?project=l", &got)
		if len(got.Commits) != 50 {
			t.Fatalf("%d commits", len(got.Commits))
		}
		for i, c := range got.Commits {
			if (c.Lines == nil) != (c.Hash == lost) {
				t.Errorf("commit %d: lines %+v", i, c.Lines)
			}
		}
	}
	if res, _ := s.get("/git/commits?project=l"); res.Header.Get("ETag") != "" {
		t.Error("an answer that will change has an entity tag")
	}
	if res, _ := s.get("/git/commits?project=l&stats=false"); res.Header.Get("ETag") == "" {
		t.Error("without counts nothing is missing")
	}
}
