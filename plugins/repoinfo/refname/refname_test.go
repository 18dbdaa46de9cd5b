package refname

import (
	"strings"
	"testing"

	"ctl.internal/sdk/fault"
)

func TestProjectLetsRealNamesThrough(t *testing.T) {
	for _, name := range []string{"netconf", "releng/autorelease", "a.b/c-d_e+f", "Größe", "integration/test", "with space"} {
		if err := Project(name); err != nil {
			t.Errorf("Project(%q) = %v", name, err)
		}
	}
}

func TestProjectRefuses(t *testing.T) {
	for _, name := range []string{"", "../x", "a/../b", "a//b", "/a", "a/", ".git", "a/.hidden", "-x", "a/-x", "a\x00b", "a\nb",
		"a.git", "a.git/objects", "a\\b", "a:b", "a%2fb", " a", strings.Repeat("x", 256), "\xff"} {
		if err := Project(name); fault.KindOf(err) != fault.Invalid || err == nil {
			t.Errorf("Project(%q) = %v, want invalid", name, err)
		}
	}
}

func TestRef(t *testing.T) {
	for _, name := range []string{"master", "stable/boron", "v1.0", "refs/heads/x", "HEAD", "0123456789abcdef", "x@y", "ünï"} {
		if err := Ref("branch", name); err != nil {
			t.Errorf("Ref(%q) = %v", name, err)
		}
	}
	for _, name := range []string{"", "--all", "-n1", "A..B", "a...b", "a^", "a~1", "a b", "a:b", "a\x00", "a\n", "@", "x@{1}", "a//b", "/a",
		"a/", ".a", "a/.b", "a.lock", "a.", "a*", "a?", "a[b", "a\\b", "\xff", strings.Repeat("x", 1025)} {
		err := Ref("ref1", name)
		if err == nil || fault.KindOf(err) != fault.Invalid {
			t.Errorf("Ref(%q) = %v, want invalid", name, err)
		} else if fault.All(err)[0].Path != "ref1" {
			t.Errorf("Ref(%q) does not name its parameter: %v", name, err)
		}
	}
}

func TestPath(t *testing.T) {
	for _, p := range []string{"a", "a/b c", "dir/", "*.go", ":(top)x", "-x"} {
		if err := Path(p); err != nil {
			t.Errorf("Path(%q) = %v", p, err)
		}
	}
	for _, p := range []string{"", "/a", "../a", "a/../b", "a//b", "./a", "a\x00b", strings.Repeat("x", 4097)} {
		if err := Path(p); err == nil {
			t.Errorf("Path(%q) was let through", p)
		}
	}
}

func TestHash(t *testing.T) {
	for name, want := range map[string]bool{"abcdef0": true, "abcdef": false, "ABCDEF0": true, "abcdefg": false, strings.Repeat("a", 64): true, strings.Repeat("a", 65): false} {
		if Hash(name) != want {
			t.Errorf("Hash(%q) = %v", name, !want)
		}
	}
}

func FuzzNames(f *testing.F) {
	for _, s := range []string{"a/b", "../x", "A..B", "--all", "a\x00b", "refs/heads/x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if Project(s) == nil && (strings.Contains(s, "..") && strings.Contains("/"+s+"/", "/../") || strings.HasPrefix(s, "/") || strings.ContainsRune(s, 0)) {
			t.Errorf("project %q got through", s)
		}
		if Ref("ref", s) == nil && (strings.Contains(s, "..") || strings.HasPrefix(s, "-") || strings.ContainsAny(s, "\x00\n ")) {
			t.Errorf("reference %q got through", s)
		}
		if Path(s) == nil && (strings.HasPrefix(s, "/") || strings.ContainsRune(s, 0)) {
			t.Errorf("path %q got through", s)
		}
	})
}
