package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"ctl.internal/bench/rig"
	"ctl.internal/test/harness"
)

type measure struct {
	repo, branch string
	rounds       int
	tmp          string
	servers      int
}

// server is a child that serves the repository.
type server struct {
	*harness.Program
	root    string // its address
	project string
	query   url.Values
	base    string // of the list that is measured
}

func (m *measure) startServer() (*server, error) {
	m.servers++
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	child, err := harness.Launch(
		":",
		exec.Command(
			self,
			"-serve",
			filepath.Dir(m.repo),
			"-data",
			filepath.Join(m.tmp, fmt.Sprintf("data%d", m.servers)),
		),
	)
	if err != nil {
		return nil, err
	}
	project := strings.TrimSuffix(filepath.Base(m.repo), ".git")
	root := "http://" + strings.TrimSpace(child.Line)
	query := url.Values{"project": {project}, "skip": {"false"}}
	if m.branch != "" {
		query.Set("branch", m.branch)
	}
	return &server{
		Program: child,
		root:    root,
		project: project,
		query:   query,
		base:    root + "/git/commits?" + query.Encode(),
	}, nil
}

// timeRequest reads an answer and returns when the first byte and the last one came.
func (s *server) timeRequest(
	ctx context.Context,
	address string,
) (first, last time.Duration, size int64, err error) {
	begin := time.Now()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, 0, 0, err
	}
	res, err := (&http.Client{Transport: &http.Transport{
		DisableCompression: true,
		DisableKeepAlives:  true,
	}}).Do(req)
	if err != nil {
		return 0, 0, 0, err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(res.Body, 500))
		return 0, 0, 0, fmt.Errorf("%s: %s", res.Status, text)
	}
	if _, err := io.ReadFull(res.Body, make([]byte, 1)); err != nil {
		return 0, 0, 0, err
	}
	first = time.Since(begin)
	size, err = io.Copy(io.Discard, res.Body)
	return first, time.Since(begin), size + 1, err
}

func (m *measure) timeGit(ctx context.Context, args ...string) (time.Duration, error) {
	begin := time.Now()
	cmd := exec.CommandContext(ctx, "git", append([]string{"--git-dir=" + m.repo}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, out)
	return time.Since(begin), errors.Join(err, cmd.Wait())
}

// timed is something that is measured.
type timed func() (time.Duration, error)

// bestTimes runs the measurements in turn, so that a busy moment of the machine hits
// all alike, and returns the shortest time of each.
func (m *measure) bestTimes(all ...timed) ([]time.Duration, error) {
	least := make([]time.Duration, len(all))
	for range m.rounds {
		for i, once := range all {
			d, err := once()
			if err != nil {
				return nil, err
			}
			if least[i] == 0 || d < least[i] {
				least[i] = d
			}
		}
	}
	return least, nil
}

func (m *measure) timeParallelRequests(
	ctx context.Context,
	s *server,
	n int,
	more string,
) (time.Duration, error) {
	begin := time.Now()
	err := rig.Each(n, n, func(int) error {
		_, _, _, err := s.timeRequest(ctx, s.base+more)
		return err
	})
	return time.Since(begin), err
}
