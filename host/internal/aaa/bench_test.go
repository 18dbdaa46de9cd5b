package aaa_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/password"
	"ctl.internal/host/internal/datastore/storetest"
)

// BenchmarkRequest is what the chain costs before a handler, without a network.
func BenchmarkRequest(b *testing.B) {
	l := open(b, defaultINI)
	anon := open(b, "[urls]\n/** = anon\n")
	nothing := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	for name, c := range map[string]struct {
		chain http.Handler
		auth  func(*http.Request)
	}{
		"none":   {nothing, func(*http.Request) {}},
		"anon":   {anon.Filter(nothing), func(*http.Request) {}},
		"basic":  {l.Filter(nothing), func(r *http.Request) { r.SetBasicAuth("admin", "admin") }},
		"bearer": {l.Filter(nothing), bearer(l.token("admin", "admin")[7:])},
	} {
		b.Run(name, func(b *testing.B) {
			w := httptest.NewRecorder()
			r := httptest.NewRequest("GET", "/restconf/operational/network-topology:network-topology", nil)
			c.auth(r)
			value := r.Header.Get("Authorization")
			b.ReportAllocs()
			for b.Loop() {
				if value != "" {
					r.Header["Authorization"] = []string{value}
				}
				c.chain.ServeHTTP(w, r)
			}
			if w.Code != http.StatusOK {
				b.Fatal(w.Code)
			}
		})
	}
}

// BenchmarkHTTP is a whole request over loopback; open has no access control.
func BenchmarkHTTP(b *testing.B) {
	l := open(b, defaultINI)
	nothing := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) })
	token := l.token("admin", "admin")[7:]
	for _, c := range []struct {
		name  string
		chain http.Handler
		auth  func(*http.Request)
	}{
		{"open", nothing, func(*http.Request) {}},
		{"basic", l.Filter(nothing), func(r *http.Request) { r.SetBasicAuth("admin", "admin") }},
		{"bearer", l.Filter(nothing), bearer(token)},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := httptest.NewServer(c.chain)
			defer s.Close()
			s.Client().Transport.(*http.Transport).MaxIdleConnsPerHost = 64
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					r, _ := http.NewRequest("GET", s.URL+"/restconf/operational/network-topology:network-topology", nil)
					c.auth(r)
					resp, err := s.Client().Do(r)
					if err != nil {
						b.Error(err)
						return
					}
					resp.Body.Close()
					if resp.StatusCode != http.StatusOK {
						b.Error(resp.StatusCode)
						return
					}
				}
			})
		})
	}
}

func bearer(token string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
}

// BenchmarkFirstLogin is a login that no cache knows, at the default cost.
func BenchmarkFirstLogin(b *testing.B) {
	store := storetest.New(storetest.Options{})
	defer store.Close()
	a, err := aaa.New(ctx, aaa.Options{
		Store: store, SecINI: []byte(defaultINI), First: identity.First{Admin: "admin", User: "user"}, Passwords: password.Default,
	})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if p, err := a.Identity().Verify(ctx, "admin", "sdn", "admin"); p == nil || err != nil {
			b.Fatal(err)
		}
	}
}
