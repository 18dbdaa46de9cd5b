package restconf

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ctl.internal/host/internal/aaa/reqpath"
)

func FuzzFields(f *testing.F) {
	f.Add("a;b(c;d)/e")
	f.Fuzz(func(t *testing.T, s string) {
		if tree, err := parseFields(s); (tree == nil) == (err == nil) {
			t.Errorf("%q: %v, %v", s, tree, err)
		}
	})
}

// FuzzRequest sends any path, query and body: no panic, no 500, and a body that
// says what is wrong.
func FuzzRequest(f *testing.F) {
	fx := newFixture(f)
	fx.answers["lab:add-vlan"] = func(string) (string, error) { return "", nil }
	fx.answers["lab:get-vlan-table"] = fx.answers["lab:add-vlan"]
	fx.answers["lab:rediscover"] = fx.answers["lab:add-vlan"]
	f.Add(uint8(0), "/rests/data/lab:inventory/device=a", "depth=1&fields=a", "")
	f.Add(uint8(1), "/rests/data/lab:inventory/rule=a", "insert=after&point=/lab:inventory/rule=b", `{"rule":[{"resource":"a"}]}`)
	f.Add(uint8(2), "/restconf/config/lab:inventory", "", `{inventory:{tag:[a],limits:{most:1}}}`)
	f.Add(uint8(3), "/rests/data/lab:inventory", "", `{"yang-patch":{"patch-id":"p","edit":[{"edit-id":"1","operation":"move","target":"/rule=a","where":"first"}]}}`)
	f.Add(uint8(4), "/restconf/config/lab:inventory/device/a", "", ``)
	f.Add(uint8(2), "/restconf/operations/lab:add-vlan", "", `{"input":{}}`)
	methods := [...]string{"GET", "PUT", "POST", "PATCH", "DELETE"}
	f.Fuzz(func(t *testing.T, m uint8, path, query, body string) {
		p, err := reqpath.ParseString(path)
		if err != nil {
			return
		}
		r := httptest.NewRequest(methods[int(m)%len(methods)], "/", strings.NewReader(body))
		r.URL.RawQuery = query
		r = r.WithContext(reqpath.With(context.Background(), p))
		if strings.Contains(body, "patch-id") {
			r.Header.Set("Content-Type", mediaYANGPatch)
		}
		w := httptest.NewRecorder()
		fx.ServeHTTP(w, r)
		if w.Code == http.StatusInternalServerError {
			t.Errorf("%s %s?%s %s: %s", r.Method, path, query, body, w.Body)
		}
	})
}
