package restconf

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"ctl.internal/host/internal/datastore/large"
	"ctl.internal/host/internal/datastore/storetest"
)

// A list that was written in parts is deleted and replaced at once, by its own address and
// by that of what holds it; who reads meanwhile sees all of it or nothing.
func TestListsOfAnySizeAreDeletedAndReplaced(t *testing.T) {
	const list, holder, n = "/rests/data/lab:inventory/rule", "/rests/data/lab:inventory", 3000
	fill := func(from, n int) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"resource":"e%06d"}`, from+i)
		}
		return `{"lab:rule":[` + b.String() + `]}`
	}
	for _, c := range []struct {
		name, method, target, body string
		left                       int
	}{
		{"DELETE of the list", "DELETE", list, "", 0},
		{"PUT of the holder without it", "PUT", holder, `{"lab:inventory":{}}`, 0},
		{"DELETE of the holder", "DELETE", holder, "", 0},
		{"PUT of other entries", "PUT", holder, `{"lab:inventory":` + strings.Replace(fill(2*n, n), "lab:rule", "rule", 1) + `}`, n},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixtureOn(t, large.Of(storetest.New(storetest.Options{Keys: 500}), slog.New(slog.DiscardHandler)))
			f.want(201, "", "PUT", holder, `{"lab:inventory":{}}`)
			for i := 0; i < n; i += 300 {
				f.want(204, "", "PATCH", holder, `{"lab:inventory":`+strings.Replace(fill(i, 300), "lab:rule", "rule", 1)+`}`)
			}
			done := make(chan struct{})
			var wg sync.WaitGroup
			wg.Go(func() {
				for {
					a := f.do("GET", list, "")
					if got := strings.Count(a.body, `"resource"`); a.code == http.StatusOK && got != n {
						t.Errorf("a reader sees %d entries", got)
					}
					select {
					case <-done:
						return
					default:
					}
				}
			})
			f.want(204, "", c.method, c.target, c.body)
			close(done)
			wg.Wait()
			a := f.do("GET", list, "")
			if got := strings.Count(a.body, `"resource"`); got != c.left {
				t.Errorf("%d entries are left, want %d: %d %.200s", got, c.left, a.code, a.body)
			}
		})
	}
}

// Keys that the store cannot keep are refused with the limit, wherever they stand.
func TestKeysAboveTheLimitAreRefused(t *testing.T) {
	f := newFixture(t)
	long := strings.Repeat("k", 30000)
	f.want(201, "", "PUT", "/rests/data/lab:inventory", `{"lab:inventory":{"rule":[{"resource":"a"}]}}`)
	for _, c := range []struct{ method, target, body string }{
		{"PUT", "/rests/data/lab:inventory/rule=" + long, `{"lab:rule":[{"resource":"` + long + `"}]}`},
		{"GET", "/rests/data/lab:inventory/rule=" + long, ""},
		{"DELETE", "/rests/data/lab:inventory/rule=" + long, ""},
		{"PUT", "/rests/data/lab:inventory", `{"lab:inventory":{"rule":[{"resource":"` + long + `"}]}}`},
		{"PATCH", "/rests/data/lab:inventory", `{"lab:inventory":{"rule":[{"resource":"` + long + `"}]}}`},
		{"POST", "/rests/data/lab:inventory", `{"lab:rule":[{"resource":"` + long + `"}]}`},
	} {
		a := f.do(c.method, c.target, c.body)
		if a.code != 400 || !strings.Contains(a.body, fmt.Sprint(15<<10)) {
			t.Errorf("%s %.60s: %d %.300s", c.method, c.target, a.code, a.body)
		}
	}
	f.want(200, `{"lab:rule":[{"resource":"a"}]}`, "GET", "/rests/data/lab:inventory/rule", "")
}
