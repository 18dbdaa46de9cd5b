package pattern_test

import (
	"testing"

	"ctl.internal/host/internal/aaa/pattern"
	"ctl.internal/host/internal/aaa/reqpath"
)

func segments(t testing.TB, raw string) []reqpath.Segment {
	t.Helper()
	p, err := reqpath.ParseString(raw)
	if err != nil {
		t.Fatal(err)
	}
	return p.Segments()
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern string
		yes, no []string
	}{
		{"/**", []string{"/", "/a", "/a/b/c"}, nil},
		{"*", []string{"/", "/a", "/a/b/c"}, nil},
		{"/*", []string{"/a", "/a/"}, []string{"/", "/a/b"}},
		{"/", []string{"/"}, []string{"/a"}},
		{"/x/**", []string{"/x", "/x/", "/x/y/z", "/%78/y"}, []string{"/xy", "/y/x", "/X"}},
		{"/x/", []string{"/x", "/x/"}, []string{"/x/y"}},
		{"/config/aaa*/**", []string{"/config/aaa-cert:x", "/config/aaa/y"}, []string{"/config/b", "/config"}},
		{"/operations/aaa-cert-rpc**", []string{"/operations/aaa-cert-rpc:getX"}, []string{"/operations/aaa-cert-rpc:getX/y"}},
		{"/**/v1/**", []string{"/v1", "/auth/v1/users", "/a/b/v1"}, []string{"/auth/v2"}},
		{"/**/a/**/b", []string{"/a/b", "/x/a/y/a/z/b"}, []string{"/b/a", "/a/b/c"}},
		{"/f?o", []string{"/foo", "/f%C3%BCo"}, []string{"/fo", "/fooo"}},
		{"/admin/*", []string{"/admin/a%2Fb"}, []string{"/admin"}},
		{"/**/**/x", []string{"/x", "/a/x"}, []string{"/x/a"}},
		{"/a*b*c", []string{"/abc", "/axbxbxc"}, []string{"/ab", "/abcd"}},
	} {
		p, err := pattern.Compile(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, raw := range c.yes {
			if !p.Match(segments(t, raw)) {
				t.Errorf("%s does not match %s", c.pattern, raw)
			}
		}
		for _, raw := range c.no {
			if p.Match(segments(t, raw)) {
				t.Errorf("%s matches %s", c.pattern, raw)
			}
		}
	}
}

func TestBelow(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"/rests/data/aaa*/**", "/rests/data", true}, {"/rests/data/aaa*/**", "/rests", true}, {"/rests/data/aaa*/**", "/rests/data/aaa:x", false},
		{"/rests/data/x/y", "/rests/data/x", true}, {"/rests/data/x/y", "/rests/data/z", false}, {"/rests/data/**", "/rests/data", false},
		{"/**/data/aaa*/**", "/rests/data", true}, {"/**/v1/**", "/rests/data", false}, {"/**", "/rests/data", false},
		{"/rests/data/m:l=5/**", "/rests/data/m:l", true}, {"/rests/data/m:l=5/**", "/rests/data/m:l=6", false}, {"/rests/data/m:l=5/**", "/rests/data/m", false},
		{"/rests/data/**/secret", "/rests/data/x", true}, {"/rests/data/**/secret", "/rests/operations", false},
	} {
		p, err := pattern.Compile(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Below(segments(t, c.path)); got != c.want {
			t.Errorf("%s below %s: %v", c.pattern, c.path, got)
		}
	}
}

func TestPatternsNoRequestCanMatchAreRefused(t *testing.T) {
	for _, text := range []string{"", " ", "/a//b", "/a/../b", "/a;b/**", "/a%20b", "/a\\b", "/a\x01"} {
		if _, err := pattern.Compile(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

func BenchmarkMatch(b *testing.B) {
	p, _ := pattern.Compile("/restconf/**/node/*/x")
	path := segments(b, "/restconf/config/network/topology/node/7/x")
	b.ReportAllocs()
	for b.Loop() {
		p.Match(path)
	}
}
