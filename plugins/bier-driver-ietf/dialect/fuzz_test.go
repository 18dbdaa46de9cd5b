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
	f.Fuzz(func(t *testing.T, first bool, data []byte) {
		have, err := xmltree.Parse(data)
		if err != nil {
			return
		}
		d := mustNew(t, map[bool]string{true: Draft00, false: RFC8349}[first])
		if c, err := d.Read(have); err == nil {
			mustWant(t, d, c)
		}
		for _, e := range d.Diff(have, mustWant(t, d, ring())).Edits {
			if _, err := xmltree.Parse(e.Bytes()); err != nil {
				t.Fatalf("%s: %v", e, err)
			}
		}
	})
}
