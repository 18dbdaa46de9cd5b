package restconf

import (
	"math/rand/v2"
	"strings"
	"testing"

	"ctl.internal/internal/yang"
	"ctl.internal/test/randomdata"
)

// TestWhatIsStoredIsWhatIsRead writes random instances of the configuration of all modules to a store on
// disk, and reads them in both forms, in one pass over the stored texts and decoded (depth asks for
// that). What is read as XML is written again and reads the same.
func TestWhatIsStoredIsWhatIsRead(t *testing.T) {
	written, lists := 0, 0
	for _, dirs := range [][]string{
		{"plugins", "examples", "internal/bier", "internal/yang/testdata", "host/internal/aaa", "host/internal/encrypt", "host/internal/keystore"},
		{"host/internal/restconf/testdata"}, // by itself: some of its modules are called as those of plugins are
	} {
		w, l := writeAndRead(t, randomdata.Schema(t, "../../..", dirs...))
		written += w
		lists += l
	}
	if written < 200 || lists < 200 {
		t.Errorf("only %d instances with %d lists", written, lists)
	}
}

func writeAndRead(t *testing.T, schema *yang.Set) (written, lists int) {
	t.Helper()
	f := onDisk(t)
	f.now = &Installed{Schema: schema}
	r := rand.New(rand.NewPCG(3, 4))
	for round := range 60 {
		for _, n := range f.now.Schema.Root.Members() {
			if !n.Config {
				continue
			}
			only := func(m *yang.Node) bool { return m.Config && (m.DataParent() != nil || m == n) }
			body := randomdata.Members(r, f.now.Schema.Root, only)
			at := "/rests/data/" + n.QName()
			method := []string{"PUT", "PATCH", "PATCH", "PATCH"}[round%4]
			if a := f.do(method, at, body, "Content-Type: application/yang-data+json"); a.code == 400 || a.code == 404 || a.code == 409 {
				continue // something mandatory is missing, or nothing is there to patch
			} else if a.code == 412 && strings.Contains(a.body, "data-not-unique") {
				continue // two values of a unique are equal by chance
			} else if a.code >= 300 {
				t.Fatalf("%s %s %s: %d %s", method, at, body, a.code, a.body)
			}
			written++
			lists += strings.Count(body, "[{")
			same(t, f, at)
			same(t, f, strings.Replace(at, "/rests/data/", "/restconf/config/", 1))
		}
	}
	same(t, f, "/rests/data")
	return written, lists
}

func same(t *testing.T, f *fixture, at string) {
	t.Helper()
	before := f.do("GET", at+"?content=config", "").body
	for _, media := range []string{"application/yang-data+json", "application/yang-data+xml", "application/yang-data+xml-list"} {
		whole := f.do("GET", at+"?content=config", "", "Accept: "+media)
		decoded := f.do("GET", at+"?content=config&depth=65535", "", "Accept: "+media)
		if strings.HasPrefix(at, "/rests") && (whole.code != decoded.code || whole.body != decoded.body) {
			t.Fatalf("GET %s as %s:\n  whole %d %s\ndecoded %d %s", at, media, whole.code, whole.body, decoded.code, decoded.body)
		}
		if media != "application/yang-data+xml" || whole.code != 200 || strings.Contains(whole.body, yang.Mask) {
			continue
		}
		path, _ := strings.CutPrefix(at, "/rests/data")
		if a := f.do("PUT", at, whole.body, "Content-Type: "+media); a.code >= 300 {
			t.Fatalf("PUT %s %s: %d %s", at, whole.body, a.code, a.body)
		}
		if after := f.do("GET", at+"?content=config", "").body; after != before {
			t.Fatalf("%s\nwas %s\nand as XML written again %s", path, before, after)
		}
	}
}
