package restconf

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"ctl.internal/host/internal/aaa/reqpath"
)

// Writers of different entries, of one entry and of the whole must neither lose a
// write nor give up.
func TestWritersInParallel(t *testing.T) { engines(t, writersInParallel) }

func writersInParallel(t *testing.T, f *fixture) {
	f.seed(lab, `{"inventory":{"note":"n"}}`)
	const writers, each = 8, 10
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				name := fmt.Sprintf("w%d-%d", w, i)
				f.want(201, "", "POST", lab, `{"lab:device":[{"name":"`+name+`"}]}`)
				f.want(204, "", "PATCH", lab, `{"lab:inventory":{"device":[{"name":"`+name+`","port":1}]}}`)
				f.want(201, "", "POST", lab, `{"lab:tag":["`+name+`"]}`)
			}
		})
	}
	wg.Wait()
	a := f.do("GET", lab, "")
	if n := strings.Count(a.body, `"port":1`); n != writers*each {
		t.Errorf("%d of %d entries are there", n, writers*each)
	}
	if n := strings.Count(f.do("GET", lab+"/tag", "").body, "w"); n != writers*each {
		t.Errorf("%d of %d values are there", n, writers*each)
	}
}

// discard is a ResponseWriter that costs nothing.
type discard struct{ h http.Header }

func (d discard) Header() http.Header         { return d.h }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}

func BenchmarkCall(b *testing.B) {
	f := newFixture(b)
	f.answers["lab:add-vlan"] = func(string) (string, error) { return `{"add-vlan-result":"SUCCESS"}`, nil }
	const body = `{"input":{"node-id":158969157063648,"vlan-id":5,"vlan-name":"x"}}`
	r := httptest.NewRequest("POST", "/restconf/operations/lab:add-vlan", nil)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	path, err := reqpath.Parse(r)
	if err != nil {
		b.Fatal(err)
	}
	r = r.WithContext(reqpath.With(r.Context(), path))
	w := discard{http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		r.Body = io.NopCloser(strings.NewReader(body))
		clear(w.h)
		f.ServeHTTP(w, r)
	}
}

func BenchmarkPutOneOf10000(b *testing.B) {
	f := newFixture(b)
	var all strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&all, `{"resource":"sw%05d"},`, i)
	}
	f.seed(lab, `{"inventory":{"rule":[`+strings.TrimSuffix(all.String(), ",")+`]}}`)
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		i++
		f.do("PUT", lab+"/rule=sw05000", fmt.Sprintf(`{"rule":[{"resource":"sw05000","permission":[{"role":"r%d"}]}]}`, i))
	}
}

func BenchmarkGet10000(b *testing.B) {
	f := newFixture(b)
	var all strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&all, `{"name":"sw%05d","address":"10.0.%d.%d","port":161},`, i, i/250, i%250)
	}
	f.seed(lab, `{"inventory":{"device":[`+strings.TrimSuffix(all.String(), ",")+`]}}`)
	for _, form := range []string{"json", "xml"} {
		b.Run(form, func(b *testing.B) {
			r := httptest.NewRequest("GET", "/rests/data/lab:inventory?content=config", nil)
			r.Header.Set("Accept", "application/yang-data+"+form)
			w := discard{http.Header{}}
			b.ReportAllocs()
			for b.Loop() {
				f.ServeHTTP(w, r)
			}
		})
	}
}
