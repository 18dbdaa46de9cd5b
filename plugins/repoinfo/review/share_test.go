package review

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"ctl.internal/sdk/fault"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// The question of many callers at once comes to the server once, also when the one
// who asked first gives up, and those who ask something else do not get its answer.
func TestParallelCallersShareOneQuestion(t *testing.T) {
	questions := map[string]func(context.Context, *Client) (int, error){
		"projects": func(ctx context.Context, c *Client) (int, error) { l, err := c.Projects(ctx); return len(l), err },
		"branches": func(ctx context.Context, c *Client) (int, error) {
			l, err := c.Branches(ctx, "a b")
			return len(l), err
		},
		"tags": func(ctx context.Context, c *Client) (int, error) { l, err := c.Tags(ctx, "a b"); return len(l), err },
		"changes": func(ctx context.Context, c *Client) (int, error) {
			l, err := c.Changes(ctx, "a b", "")
			return len(l), err
		},
		"changes of a": func(ctx context.Context, c *Client) (int, error) {
			l, err := c.Changes(ctx, "b", "a")
			return len(l), err
		},
		"changes of another": func(ctx context.Context, c *Client) (int, error) {
			l, err := c.Changes(ctx, "b", "")
			return len(l), err
		},
	}
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		answers := make(chan struct{})
		c := client(t, Options{URL: "http://review.invalid/"})
		c.http.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			asked.Add(1)
			select {
			case <-answers:
			case <-r.Context().Done():
				return nil, r.Context().Err()
			}
			body := `[{"ref":"refs/heads/x","_number":1}]`
			if strings.HasSuffix(r.URL.Path, "/projects/") {
				body = `{"x":{}}`
			}
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body)), Header: http.Header{}}, nil
		})
		first, giveUp := context.WithCancel(t.Context())
		var gone, all sync.WaitGroup
		for name, ask := range questions {
			gone.Go(func() {
				if _, err := ask(first, c); fault.KindOf(err) != fault.Unavailable {
					t.Errorf("%s: who gave up got %v", name, err)
				}
			})
			synctest.Wait()
			for range 10 {
				all.Go(func() {
					if n, err := ask(t.Context(), c); n != 1 || err != nil {
						t.Errorf("%s: %d, %v", name, n, err)
					}
				})
			}
		}
		synctest.Wait()
		giveUp()
		gone.Wait()
		close(answers)
		all.Wait()
		if n := asked.Load(); n != int64(len(questions)) {
			t.Errorf("%d questions of many were put %d times", len(questions), n)
		}
	})
}
