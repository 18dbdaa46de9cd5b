package yang

import (
	"fmt"
	"strings"
	"testing"
)

// A plain patch looks at each entry once, whatever there is: the work of merging four times
// as many entries into four times as many is four times as much.
func TestMergeIsLinear(t *testing.T) {
	set, err := Load(Source{Name: "m", Files: map[string][]byte{"m.yang": []byte(`module m { namespace "urn:m"; prefix m; revision 2026-11-26;
	  container c { list e { key "a b"; leaf a { type string; } leaf b { type string; } leaf v { type string; } } leaf-list l { type string; } } }`)}})
	if err != nil {
		t.Fatal(err)
	}
	doc := func(from, n int, v string) *Data {
		var e, l []string
		for i := from; i < from+n; i++ {
			e = append(e, fmt.Sprintf(`{"a":"%d","b":"x","v":"%s"}`, i, v))
			l = append(l, fmt.Sprintf(`"%d"`, i))
		}
		at, err := set.Root.Member("m:c").Decode([]byte(fmt.Sprintf(`{"e":[%s],"l":[%s]}`, strings.Join(e, ","), strings.Join(l, ","))), Options{})
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	for _, n := range []int{3000, 12000} {
		m := merging{}
		at := doc(0, n, "old")
		m.mergeData(at, doc(n/2, n, "new"))
		if want := 4 * n; m.looked != want { // a list and a leaf-list, there and in the patch
			t.Errorf("%d entries: %d were looked at, want %d", n, m.looked, want)
		}
		text := string(at.Append(nil, Canonical))
		if got := strings.Count(text, `"new"`); got != n {
			t.Errorf("%d entries are new, want %d", got, n)
		}
		if got := strings.Count(text, `"old"`); got != n/2 {
			t.Errorf("%d entries are as they were, want %d", got, n/2)
		}
		if got := at.Get(at.Node.Member("l")).Len(); got != n+n/2 {
			t.Errorf("the leaf-list has %d values, want %d", got, n+n/2)
		}
	}
}

// Two entries whose keys together make the same text are two entries.
func TestMergeTellsKeysApart(t *testing.T) {
	set, err := Load(Source{Name: "m", Files: map[string][]byte{"m.yang": []byte(`module m { namespace "urn:m"; prefix m; revision 2026-11-26;
	  container c { list e { key "a b"; leaf a { type string; } leaf b { type string; } } } }`)}})
	if err != nil {
		t.Fatal(err)
	}
	n := set.Root.Member("m:c")
	at, err := n.Decode([]byte(`{"e":[{"a":"1:1","b":"2"},{"a":"1","b":""}]}`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	more, err := n.Decode([]byte(`{"e":[{"a":"1","b":"1:2"},{"a":"","b":"1"},{"a":"1:1","b":"2"}]}`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	at.Merge(more)
	if got := at.Get(n.Member("e")).Len(); got != 4 {
		t.Errorf("%d entries, want 4: %s", got, at.Append(nil, Canonical))
	}
}
