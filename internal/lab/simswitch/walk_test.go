package simswitch_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/internal/lab/simswitch"
	"ctl.internal/internal/lab/snmpwire"
)

// The whole MIB of each make, as a manager walks it. -update writes the files.
func TestGoldenWalk(t *testing.T) {
	for _, profile := range simswitch.Profiles() {
		b := newBench(t, func(p *simswitch.Profile) { *p = profile })
		b.Learn(1, simswitch.MAC{6, 0, 0, 0, 0, 9}, 2)
		b.LearnSelf(1)
		peer := newBench(t, nil)
		b.AddNeighbor(1, peer.Advert(4))
		b.AddNeighbor(1, simswitch.Neighbor{ChassisSubtype: 7, Chassis: []byte("phone"), PortSubtype: 7, Port: []byte("1")})
		var out strings.Builder
		var last snmpwire.OID
		for at := (snmpwire.OID{1}); ; at = last {
			name, v := b.mib.Next(at, nil)
			if v.Exception() {
				break
			}
			if last = name; name.Compare(at) <= 0 {
				t.Fatalf("%s: %s does not come after %s", profile.Model, name, at)
			}
			if got := b.mib.Get(name); got.String() != v.String() {
				t.Errorf("%s: GET of %s is %s, GETNEXT said %s", profile.Model, name, got, v)
			}
			out.WriteString(name.String() + " " + v.String() + "\n")
		}
		compareGolden(t, profile.Model+".walk", out.String())
	}
}

func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if flag.Lookup("update") != nil && flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s: %s", name, d)
	}
}

func TestMain(m *testing.M) {
	flag.Bool("update", false, "write the golden files")
	flag.Parse()
	os.Exit(m.Run())
}

func BenchmarkNext(b *testing.B) {
	s := newBench(b, nil)
	at, spare := snmpwire.OID{1}, snmpwire.OID(nil)
	b.ReportAllocs()
	for b.Loop() {
		name, v := s.mib.Next(at, spare)
		if v.Exception() {
			name = snmpwire.OID{1}
		}
		at, spare = name, at
	}
}
