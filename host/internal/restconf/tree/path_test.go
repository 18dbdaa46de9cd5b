package tree

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"ctl.internal/internal/yang"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func labSchema(t testing.TB) *yang.Set {
	t.Helper()
	src, err := yang.FromFS("lab", os.DirFS(".."), "testdata/yang")
	if err != nil {
		t.Fatal(err)
	}
	set, err := yang.Load(src)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestPathForms(t *testing.T) {
	set := labSchema(t)
	for text, want := range map[string]string{
		"":                                     "",
		"/lab:inventory":                       "/lab:inventory",
		"/inventory":                           "/lab:inventory",
		"/lab:inventory/device=a":              "/lab:inventory/device=a",
		"/lab:inventory/device/a":              "/lab:inventory/device=a",
		"/lab:inventory/lab:device=a/slot=1,2": "/lab:inventory/device=a/slot=1,2",
		"/lab:inventory/device/a/slot/1/2":     "/lab:inventory/device=a/slot=1,2",
		"/lab:inventory/device=a%2Cb%2F%25":    "/lab:inventory/device=a%2Cb%2F%25",
		"/lab:inventory/device=%C3%A4%20=":     "/lab:inventory/device=%C3%A4%20%3D",
		"/lab:inventory/tag=x":                 "/lab:inventory/tag=x",
		"/network-topology:network-topology/topology=t/node=n/lab:mounted": "/network-topology:network-topology/topology=t/node=n/lab:mounted",
		"/lab:nothing":                       "!",
		"/lab:inventory/device=a,b":          "!",
		"/lab:inventory/device=":             "!",
		"/lab:inventory/device=a/name/x":     "!",
		"/lab:inventory/rule=r/permission/x": "!",
		"/lab:inventory/owner=x":             "!",
		"/lab:inventory/device=a%zz":         "!",
	} {
		got := "!"
		if p, err := ParseText(set, text); err == nil {
			got = p.Key()
			if len(p) == 0 {
				got = ""
			}
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestEscapeKey(t *testing.T) {
	set := labSchema(t)
	for _, key := range []string{"a b", "a+b", "a,b=c/d%2F", "ü:1", "openflow:1"} {
		p, err := ParseText(set, "/lab:inventory/device="+EscapeKey(key))
		if err != nil || p.Last().Keys[0] != key {
			t.Errorf("%q: %v, %v", key, p, err)
		}
	}
}

func FuzzPath(f *testing.F) {
	set := labSchema(f)
	f.Add("/lab:inventory/device=a%2Cb/slot=1,2/card")
	f.Add("/lab:inventory/device/a/slot/1/2")
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParseText(set, s)
		if err != nil {
			return
		}
		again, err := ParseText(set, p.Key())
		if err != nil || again.Key() != p.Key() || again.String() != p.String() {
			t.Errorf("%q has the key %q, which is read as %q, %v", s, p.Key(), again.Key(), err)
		}
	})
}
