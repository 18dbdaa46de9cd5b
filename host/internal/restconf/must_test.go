package restconf

import (
	"fmt"
	"strings"
	"testing"
)

const mustModule = `module mu {
  yang-version 1.1; namespace "urn:mu"; prefix mu;
  identity kind; identity fast { base kind; } identity faster { base fast; }
  container c {
    must "count(l) < 4" { error-message "three at most"; error-app-tag too-much; }
    leaf mode { type enumeration { enum simple { value 3; } enum full { value 7; } } default simple; }
    leaf extra { when "../mode = 'full'"; type string; }
    leaf needed { when "enum-value(../mode) = 7"; type string; mandatory true; }
    leaf kind { type identityref { base kind; } }
    leaf speed { must "derived-from(../kind, 'mu:fast')"; type uint8; }
    leaf flags { type bits { bit a; bit b; } must "not(bit-is-set(., 'a')) or re-match(../name, '[a-z]+')"; }
    leaf name { type string; }
    list l { key k; leaf k { type string; } leaf on { type boolean; } leaf to { type leafref { path "../../l/k"; } must "deref(.)/../on = 'true'"; } }
    choice ch { case one { when "mode = 'full'"; leaf o { type string; } } case two { leaf t { type string; } } }
  }
  container big {
    list e { key k; leaf k { type string; } leaf low { type uint8; must ". <= ../high"; } leaf high { type uint8; default 10; } }
  }
  leaf limit { type uint8; default 5; }
  leaf said { type string { pattern "[a-z]+" { error-message "small letters"; error-app-tag letters; } length "1..3" { error-app-tag too-long; } } }
  leaf ranged { type int8 { range "1..5" { error-message "one to five"; } } }
  rpc r { input { leaf a { type uint8; must ". < /mu:limit"; } leaf b { type uint8; must ". > ../a"; } leaf c { when "../a = 1"; type uint8; } } }
}`

// Conditions are checked at every change that they depend on, with the defaults in use.
func TestMustAndWhen(t *testing.T) {
	f := withModules(t, mustModule)
	f.answers["mu:r"] = func(string) (string, error) { return "", nil }
	put := func(code int, path, value, says string) {
		t.Helper()
		name := path[strings.LastIndexByte(path, '/')+1:]
		name, _, _ = strings.Cut(name, "=")
		if got := f.do("PUT", "/rests/data/mu:"+path, `{"mu:`+strings.TrimPrefix(name, "mu:")+`":`+value+`}`); got.code/100 != code/100 || !strings.Contains(got.body, says) {
			t.Errorf("%s %s: %d %s", path, value, got.code, got.body)
		}
	}
	put(200, "c", `{}`, "")
	put(400, "c/extra", `"x"`, `"error-path":"/mu:c/extra"`)
	put(400, "c/mode", `"full"`, "/mu:c/needed")
	put(200, "c", `{"mode":"full","needed":"n","extra":"x","o":"o"}`, "")
	put(200, "c/mode", `"simple"`, "")
	f.want(200, `{"mu:c":{"mode":"simple"}}`, "GET", "/rests/data/mu:c", "")
	put(200, "c", `{"name":"abc"}`, "")
	put(400, "c/o", `"o"`, "/mu:c/o")
	put(400, "c/speed", `1`, `"error-tag":"operation-failed","error-app-tag":"must-violation"`)
	put(200, "c/kind", `"mu:faster"`, "")
	put(200, "c/speed", `1`, "")
	put(400, "c/kind", `"mu:fast"`, "/mu:c/speed")
	put(200, "c/flags", `"a b"`, "")
	put(400, "c/name", `"ABC"`, "/mu:c/flags")
	put(200, "c/l=1", `[{"k":"1","on":true}]`, "")
	put(200, "c/l=2", `[{"k":"2","to":"1"}]`, "")
	put(400, "c/l=1", `[{"k":"1","on":false}]`, "/mu:c/l[k='2']/to")
	put(200, "c/l=3", `[{"k":"3"}]`, "")
	put(400, "c/l=4", `[{"k":"4"}]`, `"error-app-tag":"too-much","error-path":"/mu:c","error-message":"three at most"`)
	put(200, "big/e=1", `[{"k":"1","low":10}]`, "")
	put(400, "big/e=1/low", `11`, "/mu:big/e[k='1']/low")
	put(400, "big/e=1/high", `9`, "/mu:big/e[k='1']/low")
	put(400, "big", `{"e":[{"k":"2","low":3},{"k":"1","low":12}]}`, "/mu:big/e[k='1']/low")
	f.want(204, "", "POST", "/rests/operations/mu:r", `{"mu:input":{"a":4,"b":5}}`)
	f.want(412, "", "POST", "/rests/operations/mu:r", `{"mu:input":{"a":4,"b":3}}`)
	f.want(412, "", "POST", "/rests/operations/mu:r", `{"mu:input":{"a":5}}`)
	f.want(400, "", "POST", "/rests/operations/mu:r", `{"mu:input":{"a":2,"c":3}}`)
	put(200, "limit", `6`, "")
	put(400, "said", `"A"`, `"error-tag":"invalid-value","error-app-tag":"letters","error-path":"/mu:said","error-message":"small letters"`)
	put(400, "said", `"abcd"`, `"error-app-tag":"too-long"`)
	put(400, "ranged", `9`, `"error-message":"one to five"`)
	f.want(204, "", "POST", "/rests/operations/mu:r", `{"mu:input":{"a":5}}`)
}

// A change of one entry is checked without the others, where no condition looks at them.
func BenchmarkConditionOfAnEntry(b *testing.B) {
	for _, n := range []int{100, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			f := withModules(b, mustModule)
			var t strings.Builder
			for i := range n {
				fmt.Fprintf(&t, `{"k":"%d","low":%d},`, i, i%10)
			}
			f.want(201, "", "PUT", "/rests/data/mu:big", `{"mu:big":{"e":[`+strings.TrimSuffix(t.String(), ",")+`]}}`)
			for b.Loop() {
				f.want(204, "", "PUT", "/rests/data/mu:big/e=7", `{"mu:e":[{"k":"7","low":1}]}`)
			}
		})
	}
}

// A node that another module adds beside one of the same name is a node of its own.
func TestNodesOfTheSameName(t *testing.T) {
	f := withModules(t, `module a { namespace "urn:a"; prefix a; container c { leaf s { type string; } } }`,
		`module b { namespace "urn:b"; prefix b; import a { prefix a; } augment /a:c { leaf s { type uint8; } container d { leaf s { type string; } } } }`)
	f.want(201, "", "PUT", "/rests/data/a:c", `{"a:c":{"s":"mine","b:s":7,"b:d":{"s":"deep"}}}`)
	f.want(200, `{"a:c":{"s":"mine","b:s":7,"b:d":{"s":"deep"}}}`, "GET", "/rests/data/a:c", "")
	f.want(200, `{"a:s":"mine"}`, "GET", "/rests/data/a:c/s", "")
	f.want(200, `{"b:s":7}`, "GET", "/rests/data/a:c/b:s", "")
	f.want(204, "", "PUT", "/rests/data/a:c/b:s", `{"b:s":8}`)
	f.want(204, "", "DELETE", "/rests/data/a:c/s", "")
	f.want(200, `{"a:c":{"b:s":8,"b:d":{"s":"deep"}}}`, "GET", "/rests/data/a:c", "")
	f.want(200, `<c xmlns="urn:a"><s xmlns="urn:b">8</s><d xmlns="urn:b"><s>deep</s></d></c>`, "GET", "/rests/data/a:c", "", "Accept: application/yang-data+xml")
}
