package review

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"ctl.internal/sdk/fault"
)

// getPage returns the JSON of one page. cached allows one that is kept and fresh, and
// kept says that it was such. One that the server says has not changed is as good
// as new.
func (c *Client) getPage(
	ctx context.Context,
	path string,
	cached bool,
) (body []byte, kept bool, err error) {
	address := c.base + path
	known := c.lookupPage(address)
	if cached && known != nil && time.Since(known.at) < c.o.Fresh {
		return known.body, true, nil
	}
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval = 300 * time.Millisecond
	first := true
	body, err = backoff.Retry(ctx, func() ([]byte, error) {
		if !first && !c.mayRetry(ctx) {
			return nil, backoff.Permanent(fault.Device(fault.Downstream,
				"the review server keeps failing: it is not asked again for a moment"))
		}
		first = false
		return c.attemptGet(ctx, address, known)
	}, backoff.WithBackOff(wait), backoff.WithMaxTries(c.o.Tries), backoff.WithMaxElapsedTime(c.o.Budget))
	return body, false, c.explainError(ctx, err)
}

// attemptGet asks once. An error that a further try may cure is a plain one, with
// the server's own wish in it when it gave one.
func (c *Client) attemptGet(ctx context.Context, address string, known *cached) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.o.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, backoff.Permanent(err)
	}
	req.Header.Set("Accept", "application/json")
	if c.o.Username != "" {
		req.SetBasicAuth(c.o.Username, c.o.Password)
	}
	if known != nil {
		known.setConditionalHeaders(req)
	}
	res, err := c.http.Do(req)
	if f := (*fault.Error)(nil); errors.As(err, &f) {
		return nil, backoff.Permanent(f)
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode == http.StatusNotModified && known != nil {
		c.renewPage(address, known)
		return known.body, nil
	}
	if res.StatusCode != http.StatusOK {
		return nil, statusError(res)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, c.o.MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("the answer was interrupted: %w", err)
	}
	if int64(len(body)) > c.o.MaxBytes {
		return nil, backoff.Permanent(tooLong(c.o.MaxBytes))
	}
	if body, err = stripJSONPrefix(res.Header.Get("Content-Type"), body); err != nil {
		return nil, backoff.Permanent(err)
	}
	c.storePage(address, res.Header, body)
	return body, nil
}

func tooLong(limit int64) error {
	return fault.Device(fault.Downstream,
		"the review server's answer is longer than %d MiB: raise limits.review_bytes, or ask for less", limit>>20)
}

// prefix keeps the server's JSON from being run as a script.
var prefix = []byte(")]}'")

// stripJSONPrefix takes the prefix off and makes sure that JSON is left.
func stripJSONPrefix(contentType string, body []byte) ([]byte, error) {
	if kind, _, _ := mime.ParseMediaType(contentType); kind == "text/html" {
		return nil, fault.Device(fault.Downstream,
			"the review server answered with a web page instead of JSON: is review_url its root?")
	}
	body = bytes.TrimLeft(bytes.TrimPrefix(body, prefix), "\r\n")
	if !json.Valid(body) {
		return nil, fault.Device(fault.Downstream, "the review server's answer is not JSON")
	}
	if bytes.Equal(bytes.TrimSpace(body), []byte("null")) { // it would be read as an empty list
		return nil, notExpected(nil)
	}
	return bytes.ToValidUTF8(body, []byte("\uFFFD")), nil // names out of old repositories are passed on as they are
}

// statusError turns a status into an error, worth a further try or not.
func statusError(res *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(res.Body, 300))
	words := firstLine(text)
	switch code := res.StatusCode; {
	case code == http.StatusNotFound:
		return backoff.Permanent(fault.Device(
			fault.NotFound,
			"the review server does not know it: %s",
			words,
		))
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return backoff.Permanent(fault.Device(fault.Downstream,
			"the review server refused access (%d): check review.username and review.password", code))
	case code == http.StatusTooManyRequests || code == http.StatusRequestTimeout || code >= 500:
		after, named := retryAfter(res.Header.Get("Retry-After"), time.Now())
		if code == http.StatusTooManyRequests && !named {
			after = defaultRetry
		}
		if code == http.StatusTooManyRequests || named {
			return &BusyError{
				Code:  code,
				After: after,
				retry: backoff.RetryAfterError{Duration: after},
			}
		}
		return fmt.Errorf("the review server answered %d %s", code, words)
	default:
		return backoff.Permanent(fault.Device(
			fault.Downstream,
			"the review server answered %d %s",
			code,
			words,
		))
	}
}

// Bounds of the time that a server may name until it is asked again.
const (
	defaultRetry = 5 * time.Second // if it names none
	maxRetry     = time.Hour
)

// retryAfter reads the header Retry-After: seconds or a date (RFC 9110, section 10.2.3).
func retryAfter(value string, now time.Time) (after time.Duration, named bool) {
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return min(time.Duration(seconds)*time.Second, maxRetry), true
	}
	when, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	return min(max(when.Sub(now), 0), maxRetry), true
}

// BusyError is a refusal for a time: the server wants to be asked again after it.
type BusyError struct {
	Code  int           // HTTP status of the server
	After time.Duration // until the next try
	retry backoff.RetryAfterError
}

// Error says what the server answered and when it may be asked again.
func (e *BusyError) Error() string {
	return fmt.Sprintf(
		"the review server answered %d and wants to be asked again after %s",
		e.Code,
		e.After.Round(time.Second),
	)
}

// Unwrap makes the retries wait as long as the server wants.
func (e *BusyError) Unwrap() error { return &e.retry }

func firstLine(text []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(strings.ToValidUTF8(string(text), "?")), "\n")
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, line)
}

// explainError gives what is left after all tries the kind that the API answers by.
func (c *Client) explainError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if f := (*fault.Error)(nil); errors.As(err, &f) {
		return f
	}
	if ctx.Err() == context.Canceled {
		return ctx.Err()
	}
	var slow net.Error
	if errors.Is(err, context.DeadlineExceeded) || (errors.As(err, &slow) && slow.Timeout()) {
		return &fault.Error{
			Kind:   fault.Timeout,
			Text:   "the review server did not answer in time",
			Source: fault.SourceDevice,
			Cause:  err,
		}
	}
	busy := (*BusyError)(nil)
	if errors.As(err, &busy) && (busy.After > 0 || busy.Code == http.StatusTooManyRequests) {
		return &fault.Error{
			Kind:   fault.Unavailable,
			Text:   busy.Error(),
			Source: fault.SourceDevice,
			Cause:  err,
		}
	}
	why := err
	if u := (*url.Error)(nil); errors.As(err, &u) {
		why = u.Err // without the address: callers need not know it
	}
	return &fault.Error{
		Kind:   fault.Downstream,
		Text:   "the review server fails: " + why.Error(),
		Source: fault.SourceDevice,
		Cause:  err,
	}
}

// cached is a page that was received before.
type cached struct {
	body     []byte
	etag     string
	modified string
	at       time.Time
}

const cacheBytes = 16 << 20

func (k *cached) setConditionalHeaders(req *http.Request) {
	if k.etag != "" {
		req.Header.Set("If-None-Match", k.etag)
	}
	if k.modified != "" {
		req.Header.Set("If-Modified-Since", k.modified)
	}
}

func (c *Client) lookupPage(address string) *cached {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cache[address]
}

// storePage keeps a page. A full cache is emptied of its oldest pages.
func (c *Client) storePage(address string, h http.Header, body []byte) {
	k := &cached{
		body:     body,
		etag:     h.Get("ETag"),
		modified: h.Get("Last-Modified"),
		at:       time.Now(),
	}
	if int64(len(body)) > cacheBytes/4 || (c.o.Fresh <= 0 && k.etag == "" && k.modified == "") {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgetPage(address)
	c.cache[address] = k
	c.bytes += int64(len(body))
	for c.bytes > cacheBytes {
		oldest := address
		for a, other := range c.cache {
			if other.at.Before(c.cache[oldest].at) {
				oldest = a
			}
		}
		c.forgetPage(oldest)
	}
}

func (c *Client) renewPage(address string, k *cached) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cache[address] == k {
		c.cache[address] = &cached{
			body:     k.body,
			etag:     k.etag,
			modified: k.modified,
			at:       time.Now(),
		}
	}
}

func (c *Client) forgetPage(address string) {
	if k := c.cache[address]; k != nil {
		c.bytes -= int64(len(k.body))
		delete(c.cache, address)
	}
}
