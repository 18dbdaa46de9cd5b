package yang

import "testing"

// FuzzStored writes texts as they are stored: whatever they are, the writer ends, and what decodes is
// written as if it had been decoded.
func FuzzStored(f *testing.F) {
	n := testSet(f).Data("every", "settings")
	for _, s := range []string{`{"level":5}`, `{"user":[{"name":"a"}],"gone":{"a":["x,]}"]},"level":1}`, `{"once":["a","b"]}`, `{"level":`, `{"level":{}}`,
		`{]`, `[`, `{"once":[`, `{"once":"a"}`, `{"blob":{"a`, `{"a":"\`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if text == "" {
			return
		}
		d, err := (&Stored{Node: n, Text: text}).Decode(Options{Partial: true, Shallow: true, Drop: true})
		for _, xml := range []bool{false, true} {
			var got []byte
			w := Writer{Style: RFC7951, XML: xml, Flush: func(b []byte) error { got = append(got, b...); return nil }}
			w.Stored(&Stored{Node: n, Text: text})
			werr := w.Finish()
			if err != nil || text != string(d.Append(nil, Canonical)) {
				continue // not a text that we store
			}
			want := d.Append(nil, RFC7951)
			if xml {
				want = d.AppendXML(nil)
			}
			if werr != nil || string(got) != string(want) {
				t.Fatalf("%s\n got %s, %v\nwant %s", text, got, werr, want)
			}
		}
	})
}
