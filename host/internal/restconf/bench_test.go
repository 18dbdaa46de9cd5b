package restconf

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// BenchmarkEntry is a PUT and a GET of one entry among 10,000, at once and after 100,000
// earlier writes of the same entries.
func BenchmarkEntry(b *testing.B) {
	const entries, earlier = 10_000, 100_000
	f := newFixture(b)
	path := func(i int) string {
		return fmt.Sprintf("/rests/data/lab:inventory/device=a/slot=%d,%d", i/256, i%256)
	}
	body := func(i, n int) string {
		return fmt.Sprintf(`{"lab:slot":[{"shelf":%d,"number":%d,"card":"c%d"}]}`, i/256, i%256, n)
	}
	f.want(http.StatusCreated, "", "PUT", "/rests/data/lab:inventory/device=a", `{"lab:device":[{"name":"a"}]}`)
	var all []string
	for i := range entries {
		all = append(all, fmt.Sprintf(`{"shelf":%d,"number":%d,"card":"c"}`, i/256, i%256))
	}
	f.want(http.StatusNoContent, "", "PUT", "/rests/data/lab:inventory/device=a", `{"lab:device":[{"name":"a","slot":[`+strings.Join(all, ",")+`]}]}`)
	n := 0
	run := func(b *testing.B) {
		b.Run("PUT", func(b *testing.B) {
			for b.Loop() {
				n++
				f.want(http.StatusNoContent, "", "PUT", path(n%entries), body(n%entries, n))
			}
		})
		b.Run("GET", func(b *testing.B) {
			for b.Loop() {
				n++
				f.want(http.StatusOK, "", "GET", path(n%entries), "")
			}
		})
	}
	b.Run("first", run)
	for range earlier {
		n++
		f.want(http.StatusNoContent, "", "PUT", path(n%entries), body(n%entries, n))
	}
	b.Run("after 100000 writes", run)
}
