package yang_test

import (
	"math/rand/v2"
	"testing"

	"ctl.internal/internal/yang"
	"ctl.internal/test/randomdata"
)

// TestJSONAndXMLAreTheSame writes random instances of everything that all modules define as JSON and
// as XML and reads both back.
func TestJSONAndXMLAreTheSame(t *testing.T) {
	count := checkRoundTrips(t, randomdata.Schema(t, "../..", "plugins", "host", "examples", "internal/bier", "internal/yang/testdata"))
	count += checkRoundTrips(t, randomdata.Schema(t, "../..", "host/internal/restconf/testdata"))
	if count < 100 {
		t.Errorf("only %d instances", count)
	}
}

func checkRoundTrips(t *testing.T, set *yang.Set) (count int) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	check := func(n *yang.Node, at string) {
		for range 12 {
			text := randomdata.Members(r, n, func(*yang.Node) bool { return true })
			d, err := n.Decode([]byte(text), yang.Options{Partial: true})
			if err != nil {
				t.Fatalf("%s: %s: %v", at, text, err)
			}
			xml := d.AppendXML(nil)
			if n.Kind == yang.Root {
				xml = append(append([]byte("<data>"), xml...), "</data>"...)
			}
			again, err := n.Decode(xml, yang.Options{Partial: true, XML: true})
			if err != nil {
				t.Fatalf("%s: %s\n%s: %v", at, text, xml, err)
			}
			for _, s := range []yang.Style{yang.Canonical, yang.RFC7951} {
				if got, want := string(again.Append(nil, s)), string(d.Append(nil, s)); got != want {
					t.Fatalf("%s\n%s\n got %s\nwant %s", at, xml, got, want)
				}
			}
			strict, err := n.Decode(again.Append(nil, yang.RFC7951), yang.Options{Partial: true})
			if err != nil || string(strict.AppendXML(nil)) != string(d.AppendXML(nil)) {
				t.Fatalf("%s: %s: %v", at, again.Append(nil, yang.RFC7951), err)
			}
			count++
		}
	}
	check(set.Root, "the datastore")
	for _, m := range set.Modules() {
		for _, x := range m.RPCs {
			check(x.Input, m.Name+":"+x.Name)
			check(x.Output, m.Name+":"+x.Name)
		}
		for _, x := range m.Notifications {
			check(x, x.QName())
		}
	}
	return count
}
