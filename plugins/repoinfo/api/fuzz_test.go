package api

import (
	"net/url"
	"strings"
	"testing"
)

func FuzzListing(f *testing.F) {
	for _, q := range []string{"project=a/b&limit=5&since=1&until=2017-01-01", "project=../x", "project=x&cursor=MQ", "project=x&path=a/../b&merges=only", "a=%zz"} {
		f.Add(q)
	}
	a := &API{MaxPage: 100}
	f.Fuzz(func(t *testing.T, query string) {
		values, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		p := &params{values: values}
		l := a.readListParams(p, values.Get("accept"))
		if p.err != nil {
			return
		}
		if l.query.Limit < 0 || l.query.Limit > 100 || strings.Contains("/"+l.project+"/", "/../") || strings.HasPrefix(l.query.Path, "/") {
			t.Errorf("%q became %+v", query, l)
		}
	})
}

func FuzzCursor(f *testing.F) {
	secret := []byte("secret")
	real := cursor{tip: strings.Repeat("a", 40), offset: 7}.encodeCursor("d", secret)
	f.Add(real)
	f.Add("MSBhIGIgYyBk")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := decodeCursor(text, "d", secret)
		if err == nil && c.encodeCursor("d", secret) != real {
			t.Errorf("a forged cursor %q became %+v", text, c)
		}
	})
}
