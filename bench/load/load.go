// Package load sends HTTP/1.1 requests over keep-alive connections as fast as the
// server answers, with so little work of its own that the server is what is measured.
package load

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Result is what one run measured.
type Result struct {
	Requests int
	Failed   int
	Elapsed  time.Duration
	P50, P99 time.Duration
}

// Rate is answered requests a second.
func (r Result) Rate() float64 {
	return float64(r.Requests) / r.Elapsed.Seconds()
}

// Request builds the bytes of a request.
func Request(method, host, path, authorization string, body []byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, path, host)
	if authorization != "" {
		fmt.Fprintf(&b, "Authorization: %s\r\n", authorization)
	}
	if body != nil {
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	b.WriteString("\r\n")
	b.Write(body)
	return b.Bytes()
}

// Run sends req over n connections to addr until d has passed. Answers other than
// 2xx count as failed.
func Run(ctx context.Context, addr string, req []byte, n int, d time.Duration) (Result, error) {
	return Each(ctx, addr, func(int) []byte { return req }, n, d)
}

// Each is Run with requests that differ: next gives the one that connection 0 to n-1
// sends next.
func Each(
	ctx context.Context,
	addr string,
	next func(connection int) []byte,
	n int,
	d time.Duration,
) (Result, error) {
	return Do(ctx, n, d, func(ctx context.Context, i int, done Done) error {
		return loadConnection(ctx, addr, func() []byte { return next(i) }, done)
	})
}

// Done counts one answer.
type Done func(took time.Duration, ok bool)

// Do runs n workers, 0 to n-1, for d; each works until its context ends, counting
// what it did, and returns an error when it cannot go on.
func Do(
	ctx context.Context,
	n int,
	d time.Duration,
	worker func(ctx context.Context, i int, done Done) error,
) (Result, error) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	type part struct {
		lat    []time.Duration
		failed int
		err    error
	}
	parts := make([]part, n)
	var wg sync.WaitGroup
	start := time.Now()
	for i := range n {
		wg.Go(func() {
			p := &parts[i]
			p.err = worker(ctx, i, func(lat time.Duration, ok bool) {
				p.lat = append(p.lat, lat)
				if !ok {
					p.failed++
				}
			})
		})
	}
	wg.Wait()
	res := Result{Elapsed: time.Since(start)}
	var all []time.Duration
	for _, p := range parts {
		if p.err != nil {
			return res, p.err
		}
		all = append(all, p.lat...)
		res.Failed += p.failed
	}
	if len(all) == 0 {
		return res, fmt.Errorf("nothing was answered within %s", d)
	}
	slices.Sort(all)
	res.Requests, res.P50, res.P99 = len(all), all[len(all)/2], all[len(all)*99/100]
	return res, nil
}

func loadConnection(ctx context.Context, addr string, next func() []byte, done Done) error {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(5 * time.Minute))
	r := bufio.NewReaderSize(c, 16<<10)
	for ctx.Err() == nil {
		req := next()
		t := time.Now()
		if _, err := c.Write(req); err != nil {
			return err
		}
		ok, err := readResponse(r)
		if err != nil {
			return err
		}
		done(time.Since(t), ok)
	}
	return nil
}

// readResponse reads one response and discards its body.
func readResponse(r *bufio.Reader) (bool, error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return false, err
	}
	ok := len(line) > 9 && line[9] == '2'
	length, chunked := 0, false
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return false, err
		}
		if len(line) <= 2 {
			break
		}
		name, value, _ := bytes.Cut(bytes.TrimRight(line, "\r\n"), []byte(": "))
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(value)); err != nil {
				return false, err
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			chunked = true
		}
	}
	if !chunked {
		_, err = r.Discard(length)
		return ok, err
	}
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return false, err
		}
		n, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 32)
		if err != nil {
			return false, err
		}
		if _, err := r.Discard(int(n) + 2); err != nil {
			return false, err
		}
		if n == 0 {
			return ok, nil
		}
	}
}
