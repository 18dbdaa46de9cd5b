package yang

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

var benchBody = []byte(`{"input":{"node-id":158969157063648,"vlan-id":42,"vlan-name":"engineering-north"}}`)

func BenchmarkDecodeInput(b *testing.B) {
	rpc := testSet(b).RPC("every", "simple")
	b.ReportAllocs()
	b.SetBytes(int64(len(benchBody)))
	for b.Loop() {
		if _, err := rpc.DecodeInput(benchBody, Options{Lenient: true, Defaults: true}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeInput200(b *testing.B) {
	rpc := testSet(b).RPC("every", "all")
	body := []byte(`{"input":{"i64":158969157063648,"names":["north","south"],"left":[null],"colour":"green","kind":"near","item":[{"id":1,"kind":"a","port":5},{"id":2,"kind":"b","port":6}],"share":10,"text":"abcd","np":{}}}`)
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, err := rpc.DecodeInput(body, Options{Lenient: true, Defaults: true}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendOutput(b *testing.B) {
	rpc := testSet(b).RPC("every", "all")
	out := []byte(`{"big":18446744073709551615,"small":3,"entry":[{"id":5,"ports":[1,2,3]},{"id":6,"ports":[4,5,6]}]}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := rpc.AppendOutput(nil, out, Canonical); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		testSet(b)
	}
}

// manyModules are 500 modules as vendors publish them: types, identities and groupings of others, augments of other
// modules, conditions, references; about 100 nodes each.
func manyModules() Source {
	src := Source{Name: "many", Files: map[string][]byte{}}
	src.Files["types.yang"] = []byte(`module types { yang-version 1.1; namespace "urn:types"; prefix t;
	  identity kind; typedef name { type string { length "1..64"; pattern "[a-zA-Z][a-zA-Z0-9_.-]*"; } }
	  typedef address { type union { type string { pattern "([0-9]{1,3}\\.){3}[0-9]{1,3}"; } type string { pattern "[0-9a-fA-F:]+"; } } }
	  grouping counters { leaf in { type uint64; } leaf out { type uint64; } leaf drops { type uint32; default 0; } }
	  grouping settings { leaf enabled { type boolean; default true; } leaf mode { type enumeration { enum a; enum b { value 7; } } }
	    leaf limit { type decimal64 { fraction-digits 2; range "0..100"; } must ". > 1 or ../enabled = 'false'"; } } }`)
	for i := range 500 {
		var b strings.Builder
		fmt.Fprintf(&b, "module vendor-%d { yang-version 1.1; namespace \"urn:vendor:%d\"; prefix v; import types { prefix t; }\n", i, i)
		if i > 0 {
			fmt.Fprintf(&b, "import vendor-%d { prefix o; }\n", i-1)
		}
		fmt.Fprintf(&b, "description \"%s\"; revision 2026-01-01; feature extra; identity own { base t:kind; }\ncontainer top {\n", strings.Repeat("What it is for. ", 20))
		for j := range 8 {
			fmt.Fprintf(&b, `list item-%d { key name; leaf name { type t:name; } leaf kind { type identityref { base t:kind; } }
			  leaf address { type t:address; description "%s"; } uses t:settings { refine limit { default 5; } }
			  leaf peer { type leafref { path "../../item-%d/name"; } must ". != ../name"; }
			  choice way { leaf direct { type empty; } container through { leaf hop { when "../../enabled = 'true'"; type string; } } }
			  container state { config false; uses t:counters; } }`, j, strings.Repeat("About the address. ", 5), j)
		}
		b.WriteString("}\n")
		if i > 0 {
			fmt.Fprintf(&b, "augment /o:top/o:item-0 { leaf added { type string; } container more { uses t:settings; } }\n")
		}
		b.WriteString("rpc run { input { leaf name { type t:name; mandatory true; } } output { leaf done { type boolean; } } } notification changed { leaf name { type t:name; } }\n}\n")
		src.Files[fmt.Sprintf("vendor-%d.yang", i)] = []byte(b.String())
	}
	return src
}

// 500 modules are to compile in 5 s and to keep 200 MiB at most.
func BenchmarkFiveHundredModules(b *testing.B) {
	src := manyModules()
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		set, err := Load(src)
		if err != nil {
			b.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(set)
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/(1<<20), "allocated-MiB")
}
