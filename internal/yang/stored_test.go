package yang

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

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

// A long list is written in its order; writing it ends at an entry that does not fit the schema, and when its
// reader has gone.
func TestALongListAsXML(t *testing.T) {
	n := testSet(t).Data("every", "settings").Member("user")
	list := &Stored{Node: n, Array: true}
	var want strings.Builder
	for i := range 5000 {
		list.Texts = append(list.Texts, fmt.Sprintf(`{"name":"u%05d"}`, i))
		fmt.Fprintf(&want, `<user><name>u%05d</name></user>`, i)
	}
	var got strings.Builder
	write := func(flush func([]byte) error) error {
		got.Reset()
		w := Writer{XML: true, Flush: flush}
		w.writeStored(list, n.Module)
		return w.Finish()
	}
	keep := func(b []byte) error { got.Write(b); return nil }
	if err := write(keep); err != nil || got.String() != want.String() {
		t.Fatalf("%v\n%.300s", err, got.String())
	}
	gone := errors.New("the reader has gone")
	if err := write(func([]byte) error { return gone }); !errors.Is(err, gone) {
		t.Errorf("%v, want that the reader has gone", err)
	}
	for _, at := range []int{0, 700, len(list.Texts) - 1} {
		was := list.Texts[at]
		list.Texts[at] = `{"name":`
		if err := write(keep); err == nil {
			t.Errorf("entry %d does not fit the schema, and is written", at)
		}
		list.Texts[at] = was
	}
}

// FuzzAlike writes lists, whose entries are copied by their shape, and each entry alone: both give the same.
func FuzzAlike(f *testing.F) {
	set := testSet(f)
	lists := []*Node{set.Data("every", "settings").Member("user")}
	lists[0].Member("friend").secret = secretHere
	for _, n := range set.Data("every", "settings").Members() {
		if n.Kind == List && n != lists[0] {
			lists = append(lists, n)
		}
	}
	for _, s := range []string{
		"{\"name\":\"a\"}\n{\"name\":\"b<&>\"}\n{\"name\":\"\"}\n{\"name\":\"q\\\"\\\\\"}\n{\"name\":\"a\",\"friend\":\"b\"}",
		"{\"name\":\"a\",\"perm\":[{\"role\":\"x\"},{\"role\":\"y\"}]}\n{\"name\":\"b\",\"perm\":[{\"role\":\"\"},{\"role\":\"z\"}]}\n{\"name\":\"b\",\"perm\":[{},{\"role\":\"z\"}]}",
		"{\"name\":5}\n{\"name\":6}\n{\"name\":\"6\"}\n{\"name\":[null]}\n{\"name\":{}}\n{\"name\":true,\"gone\":1}\n{\"name\":,}",
	} {
		f.Add(s, false, 0)
		f.Add(s, true, 1)
	}
	f.Fuzz(func(t *testing.T, texts string, masked bool, style int) {
		entries := strings.Split(texts, "\n")
		if len(entries) > 50 || strings.Contains(texts, "\n\n") || texts == "" || strings.HasPrefix(texts, "\n") || strings.HasSuffix(texts, "\n") {
			return
		}
		for len(entries) < shapesFrom {
			entries = append(entries, entries...)
		}
		for _, n := range lists {
			for _, xml := range []bool{false, true} {
				write := func(texts ...string) (string, error) {
					var got []byte
					w := Writer{Style: []Style{Canonical, RFC7951}[style&1], XML: xml, Hide: masked, Flush: func(b []byte) error { got = append(got, b...); return nil }}
					w.writeArray(&Stored{Node: n, Array: true, Texts: texts}, n.Module)
					err := w.Finish()
					return strings.TrimSuffix(strings.TrimPrefix(string(got), "["), "]"), err
				}
				var want []string
				for _, e := range entries {
					one, err := write(e)
					if err != nil {
						return // not a text that we store
					}
					want = append(want, one)
				}
				comma := ","
				if xml {
					comma = ""
				}
				if got, err := write(entries...); err != nil || got != strings.Join(want, comma) {
					t.Fatalf("%q\n got %s, %v\nwant %s", texts, got, err, strings.Join(want, comma))
				}
			}
		}
	})
}
