package rig

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// Main runs a program until it ends or is interrupted.
func Main(run func(context.Context) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// Each calls f for 0 to n-1, so many at a time, until one of them fails.
func Each(n, parallel int, f func(i int) error) error {
	group, failed := errgroup.WithContext(context.Background())
	group.SetLimit(parallel)
	for i := 0; i < n && failed.Err() == nil; i++ {
		group.Go(func() error { return f(i) })
	}
	return group.Wait()
}

// At is what so many percent of all took at most; 50 is the median. It sorts them.
func At(took []time.Duration, percent int) time.Duration {
	slices.Sort(took)
	return took[min(len(took)*percent/100, len(took)-1)]
}

// Ask sends a request as the user admin and returns the body of the answer, 1 GiB of it at most; a status of 400
// or more is an error.
func Ask(
	ctx context.Context,
	client *http.Client,
	method, url, contentType, body string,
) (text []byte, status int, err error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	req.SetBasicAuth("admin", "admin")
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer res.Body.Close()
	text, err = io.ReadAll(io.LimitReader(res.Body, 1<<30))
	if err == nil && res.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%s: %s: %.400s", req.URL.Path, res.Status, text)
	}
	return text, res.StatusCode, err
}
