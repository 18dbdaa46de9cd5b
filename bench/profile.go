package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// profile takes a CPU profile of a controller while it is under load, when the user
// asked for one. What it returns waits for the end of it.
func (b *bench) profile(ctx context.Context, s *side, d time.Duration) (wait func() error) {
	if b.profiles == "" || s.home == "" {
		return func() error { return nil }
	}
	name := strings.NewReplacer("/", "_", ":", "_").Replace(strings.Fields(string(s.req))[1])
	done := make(chan error, 1)
	go func() { done <- fetchProfile(ctx, s.home, filepath.Join(b.profiles, name+".pprof"), d) }()
	return func() error { return <-done }
}

func fetchProfile(ctx context.Context, home, file string, d time.Duration) error {
	c := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(home, "data", "run", "pprof.sock"))
	}}, Timeout: d + time.Minute}
	defer c.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://x/debug/pprof/profile?seconds=%d", max(1, int(d.Seconds()))), nil)
	if err != nil {
		return err
	}
	res, err := c.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	if _, err = io.Copy(out, res.Body); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}
