package tree

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

const conditionsModule = `module m {
  yang-version 1.1; namespace "urn:m"; prefix m;
  leaf limit { type uint8; default 3; }
  leaf any { type string; must "count(//m:on) < 7"; }
  leaf-list tags { type string; must ". != /m:c/m:mode"; }
  list top { key k; leaf k { type string; } leaf n { type uint8; must ". <= ../../m:limit"; } leaf-list s { type string; must "count(../s) < 3"; }
    leaf alone { type string; must "not(/m:c/m:p)"; }
    leaf same { type string; must "count(/m:c/m:l[m:k = 'a'] | /m:c/m:l) = count(/m:c/m:l)"; } }
  grouping g { list gl { key k; leaf k { type string; } } }
  list pair { key "a b"; leaf a { type string; } leaf b { type uint8; } leaf on { type boolean; } leaf w { when "../on = 'true'"; type string; } }
  container c {
    must "count(l) <= /m:limit";
    leaf mode { type string; default x; }
    leaf sum { type uint8; must ". = sum(l/n) or . = 0"; }
    list l { key k; must "not(n) or count(../l[n = current()/n]) = 1";
      leaf k { type string; } leaf n { type uint8; }
      leaf near { type uint8; must ". >= ../n"; }
      leaf mode { when "../../mode = 'x'"; type string; }
      leaf to { type leafref { path "../../l/k"; require-instance false; } must "deref(.)/../n > 1"; }
      leaf a { type string; } leaf b { type uint8; must "/m:pair[m:a = current()/../m:a][m:b = current()]/m:on = 'true'"; }
      leaf other { type leafref { path "/m:top/m:k"; require-instance false; } must "deref(.)/../m:n"; }
      leaf first { type empty; must "not(../preceding-sibling::l)"; }
      leaf ref { type leafref { path "/m:pair[m:on = 'true']/m:a"; } }
      list in { key i; leaf i { type string; } leaf x { type uint8; must ". < ../../n"; } leaf y { when "../../../mode = 'y'"; type string; } } }
    uses g { when "mode = 'x'"; }
    container p { presence "x"; must "q"; list q { key i; leaf i { type string; } leaf v { type string; must "/m:c/m:l[m:k = current()]"; } } }
    choice ch { case one { container held { when "../mode = 'x'"; list h { key i; leaf i { type string; } must "count(../h) < 3"; } } } leaf two { type string; } }
    container np { list z { key i; leaf i { type string; } leaf r { type leafref { path "deref(../../../l[k='a']/to)/../n"; } } } }
  }
}`

// edits are paths and values that conditions depend on.
var conditionEdits = []struct{ path, value string }{
	{"/m:limit", `2`}, {"/m:limit", `5`}, {"/m:limit", ``}, {"/m:any", `"x"`}, {"/m:any", ``}, {"/m:tags", `["x","q"]`}, {"/m:tags", `["q"]`}, {"/m:tags", ``},
	{"/m:top=K", `{"k":"K","n":N}`}, {"/m:top=K", `{"k":"K","s":["1","2"]}`}, {"/m:top=K", ``}, {"/m:top=K/n", `N`}, {"/m:top=K", `{"k":"K","same":"x"}`}, {"/m:top=K/alone", `"x"`}, {"/m:c/gl=K", `{"k":"K"}`}, {"/m:c/gl=K", ``}, {"/m:top", ``},
	{"/m:pair=K,N", `{"a":"K","b":N,"on":true,"w":"w"}`}, {"/m:pair=K,N", `{"a":"K","b":N,"on":true}`}, {"/m:pair=K,N/on", `false`}, {"/m:pair=K,N", ``},
	{"/m:c/mode", `"x"`}, {"/m:c/mode", `"y"`}, {"/m:c/mode", ``}, {"/m:c/sum", `N`}, {"/m:c/sum", `0`},
	{"/m:c/l=K", `{"k":"K","n":N}`}, {"/m:c/l=K", `{"k":"K","n":N,"near":2,"mode":"m"}`}, {"/m:c/l=K", `{"k":"K"}`}, {"/m:c/l=K", ``}, {"/m:c/l=K/n", `N`}, {"/m:c/l=K/n", ``},
	{"/m:c/l=K/to", `"L"`}, {"/m:c/l=K/near", `N`}, {"/m:c/l=K/mode", `"v"`}, {"/m:c/l=K", `{"k":"K","a":"L","b":N}`}, {"/m:c/l=K/other", `"L"`}, {"/m:c/l=K/first", `[null]`},
	{"/m:c/l=K/ref", `"L"`}, {"/m:c/l=K/in=L", `{"i":"L","x":N}`}, {"/m:c/l=K/in=L", `{"i":"L","y":"y"}`}, {"/m:c/l=K/in=L", ``}, {"/m:c/l", ``},
	{"/m:c/p", `{"q":[{"i":"K"}]}`}, {"/m:c/p/q=K", `{"i":"K","v":"L"}`}, {"/m:c/p/q=K", ``}, {"/m:c/p", ``}, {"/m:c/held/h=K", `{"i":"K"}`}, {"/m:c/held/h=K", ``}, {"/m:c/two", `"t"`},
	{"/m:c/np/z=K", `{"i":"K"}`}, {"/m:c/np/z=K", `{"i":"K","r":N}`}, {"/m:c/np/z=K", ``}, {"/m:c", `{"l":[{"k":"a","n":2},{"k":"b","to":"a"}]}`}, {"/m:c", ``},
}

var errGiveUp = errors.New("not valid")

// What a change can affect is checked as if everything were.
func TestConditionsAreCheckedAsFarAsTheyMatter(t *testing.T) {
	set, err := yang.Load(yang.Source{Name: "m", Files: map[string][]byte{"m.yang": []byte(conditionsModule)}})
	if err != nil {
		t.Fatal(err)
	}
	store := storetest.New(storetest.Options{})
	defer store.Close()
	x := &Tree{Store: store, NS: ConfigNamespace, Now: time.Now}
	random := rand.New(rand.NewPCG(3, 4))
	accepted, refused, deleted := 0, 0, 0
	for range 4000 {
		var edits []Edit
		for range 1 + random.IntN(2) {
			edits = append(edits, randomEdit(t, set, random))
		}
		err := x.Update(t.Context(), set, func(d *Draft) error {
			for _, e := range edits {
				if _, err := d.Apply(e); err != nil {
					return err
				}
			}
			if !d.Changed() {
				return nil
			}
			if err := d.checkTouched(); err != nil {
				return err
			}
			excluded, faults, err := d.checkConditions()
			if err != nil {
				return err
			}
			got, want := verdict(excluded, faults), wholeVerdict(t, d)
			if !slices.Equal(got, want) {
				t.Errorf("%s\n got %q\nwant %q", textOf(edits), got, want)
				return errGiveUp
			}
			if len(faults) == 0 && len(excluded) > 0 {
				deleted++
			}
			return nil
		})
		switch {
		case t.Failed():
			t.FailNow()
		case err == nil:
			accepted++
		default:
			refused++
		}
	}
	t.Logf("%d accepted, %d refused, %d deleted something", accepted, refused, deleted)
	if accepted < 500 || refused < 500 || deleted < 50 {
		t.Error("the changes are not mixed enough")
	}
}

func randomEdit(t *testing.T, set *yang.Set, random *rand.Rand) Edit {
	t.Helper()
	pick := func() string { return string("abc"[random.IntN(3)]) }
	one := conditionEdits[random.IntN(len(conditionEdits))]
	r := strings.NewReplacer("K", pick(), "L", pick(), "N", fmt.Sprint(random.IntN(4)))
	p, err := ParseText(set, r.Replace(one.path))
	if err != nil {
		t.Fatal(err)
	}
	if one.value == "" {
		return Edit{Op: Remove, Path: p}
	}
	value, err := DecodeAt(p, []byte(r.Replace(one.value)), yang.Options{})
	if err != nil {
		t.Fatalf("%s %s: %v", one.path, one.value, err)
	}
	return Edit{Op: []Op{Replace, Merge}[random.IntN(2)], Path: p, Value: value}
}

func textOf(edits []Edit) string {
	var b strings.Builder
	for _, e := range edits {
		fmt.Fprintf(&b, "%s %s ", e.Op, e.Path)
		if e.Value != nil {
			b.Write(e.Value.Append(nil, yang.Canonical))
		}
		b.WriteString("; ")
	}
	return b.String()
}

func verdict(excluded []yang.Excluded, faults fault.List) []string {
	var out []string
	for _, x := range excluded {
		out = append(out, x.Why.Error())
	}
	for _, f := range faults {
		out = append(out, f.Error())
	}
	slices.Sort(out)
	return out
}

// wholeVerdict checks all conditions with all data.
func wholeVerdict(t *testing.T, d *Draft) []string {
	t.Helper()
	root := yang.NewData(d.set.Root, false)
	for _, n := range d.set.Root.Members() {
		at, err := d.Load(Path{{Node: n}})
		if err != nil {
			t.Fatal(err)
		}
		if at != nil {
			root.Put(at)
		}
	}
	root.AddDefaults(yang.Default, isConfig)
	var excluded []yang.Excluded
	var faults fault.List
	for c := range root.All() {
		more, wrong := c.CheckConditions(root, nil)
		excluded, faults = append(excluded, more...), append(faults, wrong...)
	}
	return verdict(excluded, faults)
}

const keyedModule = `module m {
  yang-version 1.1; namespace "urn:m"; prefix m;
  list top { key k; leaf k { type string; } leaf n { type uint8; } leaf-list s { type string; must "count(../s) < 3"; } }
  list pair { key "a b"; leaf a { type string; } leaf b { type uint8; } leaf on { type boolean; } }
  container c {
    leaf mode { type string; default x; }
    list l { key k;
      leaf k { type string; } leaf n { type uint8; } leaf mode { when "../../mode = 'x'"; type string; }
      leaf a { type string; } leaf b { type uint8; must "/m:pair[m:a = current()/../m:a][m:b = current()]/m:on = 'true'"; }
      leaf two { type uint8; must "/m:pair[m:b = 1 and m:a = 'a']/m:on = 'true'"; }
      leaf other { type leafref { path "/m:top/m:k"; require-instance false; } must "deref(.)/../m:n"; }
      leaf ref { type leafref { path "/m:pair[m:a = current()/../m:a][m:b = current()/../m:n]/m:b"; } }
      list in { key i; leaf i { type string; } leaf x { type uint8; must ". < ../../n"; } } }
  }
}`

// A change of one entry reads neither its list nor others that its conditions look into by a key.
func TestConditionsReadWhatTheyLookAt(t *testing.T) {
	set, err := yang.Load(yang.Source{Name: "m", Files: map[string][]byte{"m.yang": []byte(keyedModule)}})
	if err != nil {
		t.Fatal(err)
	}
	store := storetest.New(storetest.Options{})
	defer store.Close()
	x := &Tree{Store: store, NS: ConfigNamespace, Now: time.Now}
	set1(t, x, set, "/m:top", `[{"k":"a","n":1},{"k":"b"}]`)
	set1(t, x, set, "/m:pair", `[{"a":"a","b":1,"on":true},{"a":"b","b":2}]`)
	set1(t, x, set, "/m:c", `{"mode":"x","l":[{"k":"a","a":"a","n":1},{"k":"b","n":1,"a":"b"}]}`)
	for _, c := range []struct {
		path, value string
		valid       bool
	}{
		{"/m:c/l=a/other", `"a"`, true}, {"/m:c/l=a/other", `"b"`, false}, {"/m:c/l=a/other", `"none"`, false},
		{"/m:c/l=a/b", `1`, true}, {"/m:c/l=a/b", `2`, false}, {"/m:c/l=b/b", `2`, false}, {"/m:c/l=b/two", `2`, true},
		{"/m:c/l=a/ref", `1`, true}, {"/m:c/l=b/ref", `1`, false},
		{"/m:c/l=b/in=i", `{"i":"i","x":0}`, true}, {"/m:c/l=b/in=i", `{"i":"i","x":1}`, false},
		{"/m:c/l=b/mode", `"m"`, true}, {"/m:top=a/s", `["x"]`, true},
	} {
		err := x.View(t.Context(), set, func(d *Draft) error {
			if err := d.ApplyText([]TextEdit{{Path: c.path, Value: []byte(c.value)}}); err != nil {
				return err
			}
			excluded, faults, err := d.checkConditions()
			if valid := len(excluded)+len(faults) == 0; err != nil || valid != c.valid {
				t.Errorf("%s %s: %v %v %v", c.path, c.value, excluded, faults, err)
			}
			for _, list := range []string{"/m:c/l=", "/m:pair=", "/m:top="} {
				if d.ranges[list] {
					t.Errorf("%s %s: the whole of %s was read", c.path, c.value, list)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
