package dialect

import (
	"testing"

	"ctl.internal/internal/netconf/xmltree"
)

// Whatever a router answers, it is read without a panic, and what was read leads to
// edits that can be written.
func FuzzRead(f *testing.F) {
	for _, name := range Names() {
		d, err := New(name, true)
		if err != nil {
			f.Fatal(err)
		}
		n, err := d.Want(ring())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(name == Draft00, xmltree.New("", "data", n.Kids...).Bytes())
	}
	f.Add(false, shown(1, "256-bit", "192.0.2.1/32", 257, "64-bit", "192.0.2.2/32").Bytes())
	f.Fuzz(func(t *testing.T, first bool, data []byte) {
		have, err := xmltree.Parse(data)
		if err != nil {
			return
		}
		d := mustNew(t, map[bool]string{true: Draft00, false: RFC8349}[first])
		if c, err := d.Read(have); err == nil {
			mustWant(t, d, c)
		}
		if tables, err := d.Forwarding(have); err == nil {
			for _, x := range tables {
				for _, n := range x.Neighbors {
					if len(n.FBm) != int(x.Bitstringlength)/8 {
						t.Fatalf("a mask of %d bytes for %d bits", len(n.FBm), x.Bitstringlength)
					}
				}
			}
		}
		if p, err := Pong(have.Kids); err == nil && p.Received > p.Sent {
			t.Fatalf("%v", p)
		}
		for _, e := range d.Diff(have, mustWant(t, d, ring())).Edits {
			if _, err := xmltree.Parse(e.Bytes()); err != nil {
				t.Fatalf("%s: %v", e, err)
			}
		}
	})
}
