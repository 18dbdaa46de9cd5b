package yang

import "testing"

func settings(t *testing.T, text string) *Data {
	t.Helper()
	d, err := testSet(t).Data("every", "settings").Decode([]byte(text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestMerge(t *testing.T) {
	for _, c := range []struct{ into, from, want string }{
		{`{}`, `{"level":3}`, `{"level":3}`},
		{`{"level":1,"once":["a"]}`, `{"level":2,"once":["b","a"]}`, `{"level":2,"once":["a","b"]}`},
		{`{"user":[{"name":"a"},{"name":"b","friend":"a"}]}`, `{"user":[{"name":"b","friend":"b"},{"name":"c"}]}`,
			`{"user":[{"name":"a"},{"name":"b","friend":"b"},{"name":"c"}]}`},
		{`{"user":[{"name":"a","perm":[{"role":"x"},{"role":"y"}]}]}`, `{"user":[{"name":"a","perm":[{"role":"z"}]}]}`,
			`{"user":[{"name":"a","perm":[{"role":"z"}]}]}`},
	} {
		set := testSet(t)
		n := set.Data("every", "settings")
		into, err := n.Decode([]byte(c.into), Options{})
		if err != nil {
			t.Fatal(err)
		}
		from, err := n.Decode([]byte(c.from), Options{})
		if err != nil {
			t.Fatal(err)
		}
		into.Merge(from)
		if got := string(into.Append(nil, Canonical)); got != c.want {
			t.Errorf("%s into %s: %s", c.from, c.into, got)
		}
	}
}

func TestPutLeavesOneCase(t *testing.T) {
	rpc := testSet(t).RPC("every", "all")
	o := Options{Partial: true}
	d, err := rpc.Input.Decode([]byte(`{"i8":1,"a1":"x","a2":"y","left":[null]}`), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ name, text, want string }{
		{"short", "s", `{"i8":1,"left":[null],"short":"s"}`},
		{"a1", "again", `{"i8":1,"left":[null],"a1":"again"}`},
		{"a2", "too", `{"i8":1,"left":[null],"a1":"again","a2":"too"}`},
		{"right", "", `{"i8":1,"a1":"again","a2":"too","right":[null]}`},
		{"i8", "-7", `{"i8":-7,"a1":"again","a2":"too","right":[null]}`},
	} {
		leaf, err := rpc.Input.Member(step.name).NewLeaf(step.text)
		if err != nil {
			t.Fatal(err)
		}
		d.Put(leaf)
		if got := string(d.Append(nil, Canonical)); got != step.want {
			t.Errorf("after %s: %s, want %s", step.name, got, step.want)
		}
	}
}

func TestInsertAndRemove(t *testing.T) {
	d := settings(t, `{"user":[{"name":"a"},{"name":"b"},{"name":"c"}]}`)
	list := d.First()
	b := list.Entry([]string{"b"})
	b.Remove()
	list.Insert(b, list.First())
	c := list.Entry([]string{"c"})
	c.Remove()
	list.Insert(c, list.Entry([]string{"a"}))
	if got := string(d.Append(nil, Canonical)); got != `{"user":[{"name":"b"},{"name":"c"},{"name":"a"}]}` {
		t.Error(got)
	}
	if p := c.Path(); p != "/every:settings/user[name='c']" {
		t.Error(p)
	}
	if _, err := d.Check(Options{}); err != nil {
		t.Error(err)
	}
	for list.First() != nil {
		list.First().Remove()
	}
	if list.Len() != 0 || list.Entry([]string{"a"}) != nil {
		t.Error("the list is not empty")
	}
}

func TestPathsRoundTrip(t *testing.T) {
	d := settings(t, `{"user":[{"name":"it's \"x\" \\"},{"name":"plain"}],"once":["a"]}`)
	for e := d.First().First(); e != nil; e = e.Next() {
		steps, err := ParsePath(e.Path())
		if err != nil || len(steps) != 2 || steps[1].Keys["name"] != e.KeyValues()[0] {
			t.Errorf("%s: %v, %v", e.Path(), steps, err)
		}
	}
	for _, bad := range []string{"", "a", "/", "/a[", "/a[b='c'", "/a[b=c]", "/a[0]", "/a[1][2]", "/a[b='1'][b='2']", "/a//b", "/a:b:c", "/1a"} {
		if s, err := ParsePath(bad); err == nil {
			t.Errorf("%q is read as %v", bad, s)
		}
	}
}

func TestLeafText(t *testing.T) {
	set := testSet(t)
	in := set.RPC("every", "all").Input
	for _, c := range []struct {
		leaf, text, want string
		ok               bool
	}{
		{"i8", "12", "12", true}, {"i8", "012", "12", true}, {"i8", "+12", "12", true}, {"i8", "-0", "0", true}, {"i8", "-05", "-5", true}, {"i8", "0x10", "", false}, {"dec", "+01.50", "1.5", true}, {"kind", "near", "every:near", true}, {"flag", "true", "true", true},
		{"nothing", "", "", true}, {"opts", "b a", "a b", true}, {"dec", "1.50", "1.5", true}, {"item", "x", "", false},
	} {
		got, err := in.Member(c.leaf).Canonical(c.text)
		if got != c.want || (err == nil) != c.ok {
			t.Errorf("%s %q: %q, %v", c.leaf, c.text, got, err)
		}
	}
}
