package yang

import (
	"strings"
	"testing"
)

func TestAliasSet(t *testing.T) {
	set := testSet(t)
	s, err := ParseAliases([]byte(`{"modules":{"ev":"every"},"rpcs":{"every:simpel":"simple"},"inputs":{
		"every:*":{"members":{"id":"node-id","x":"y"},"trim":true,"wrap":["names"]},
		"every:simple":{"members":{"x":"vlan-id"},"values":{"vlan-id":{"one":"1"}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	x, err := NewAliasIndex(set, s)
	if err != nil {
		t.Fatal(err)
	}
	module, rpc, a := x.Resolve("ev", "simpel")
	if module != "every" || rpc != "simple" || a == nil {
		t.Fatalf("resolved to %s:%s %v", module, rpc, a)
	}
	got, err := set.RPC(module, rpc).DecodeInput([]byte(`{"input":{" id":"7 ","x":"one"}}`), Options{Lenient: true, Aliases: a})
	checkOne(t, "merged aliases", got, err, `{"node-id":7,"vlan-id":1}`, "")
	if m, r, a := x.Resolve("other", "thing"); m != "other" || r != "thing" || a != nil {
		t.Error("what is no alias must stay")
	}
	if x.Module("ev") != "every" || x.Module("other") != "other" {
		t.Error("module aliases")
	}
	if m, r, a := (*AliasIndex)(nil).Resolve("m", "r"); m != "m" || r != "r" || a != nil || (*AliasIndex)(nil).Module("m") != "m" {
		t.Error("no index changes nothing")
	}
}

func TestAliasesThatNameNothing(t *testing.T) {
	set := testSet(t)
	for _, c := range []struct{ text, want string }{
		{`{"modules":{"a":"nowhere"}}`, `no module "nowhere"`},
		{`{"rpcs":{"every:x":"nothing"}}`, `no rpc "nothing"`},
		{`{"inputs":{"every:nothing":{}}}`, `no rpc "every:nothing"`},
		{`{"inputs":{"nowhere:*":{}}}`, `no module "nowhere"`},
		{`{"bogus":1}`, "bogus"},
		{`{`, "aliases"},
	} {
		s, err := ParseAliases([]byte(c.text))
		if err == nil {
			_, err = NewAliasIndex(set, s)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.text, err)
		}
	}
	if s, err := ParseAliases(nil); err != nil || s.Modules != nil {
		t.Error("no text is no alias")
	}
}
