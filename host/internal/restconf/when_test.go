package restconf

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

const whenModule = `module w {
  yang-version 1.1; namespace "urn:w"; prefix w;
  leaf switch { type boolean; default true; }
  container c {
    leaf mode { type enumeration { enum a; enum b; enum c; } default a; }
    leaf only-a { when "../mode = 'a'"; type string; }
    leaf after { when "../only-a"; type string; }
    leaf-list tags { when "../mode = 'a'"; type string; }
    container box { when "../mode != 'c'"; leaf x { type string; } list deep { key k; leaf k { type string; } } }
    list l { when "../mode = 'a'"; key k; leaf k { type string; } leaf v { type string; } leaf needs { when "../v"; type string; } }
    choice ch { case one { when "mode = 'b'"; container held { list m { key k; leaf k { type string; } } } } leaf other { type string; } }
    leaf far { when "/w:switch = 'true'"; type string; }
    leaf sure { when "../mode = 'b'"; mandatory true; type string; }
  }
  list top { when "/w:switch = 'true'"; key k; leaf k { type string; } leaf on { type boolean; } leaf x { when "../on = 'true'"; type string; } }
}`

// What a when statement excludes after a change is deleted (RFC 7950 section 8.3.2), with what that excludes in turn; what
// the change itself asks for is refused.
func TestWhenDeletes(t *testing.T) {
	const start = `{"mode":"a","only-a":"x","after":"y","tags":["t","u"],"far":"f","box":{"x":"1","deep":[{"k":"d"}]},` +
		`"l":[{"k":"1","v":"v","needs":"n"},{"k":"2"}]}`
	const inB = `"mode":"b","far":"f","box":{"x":"1","deep":[{"k":"d"}]},"sure":"s"}`
	for _, c := range []struct {
		name, method, path, body string
		code                     int
		answer                   string
		then                     string
	}{
		{"a leaf that others depend on", "PATCH", "w:c", `{"w:c":{"mode":"b","sure":"s"}}`, 204, "", `{"w:c":{` + inB + `}`},
		{"a container with a list", "PUT", "w:c/mode", `{"w:mode":"c"}`, 204, "", `{"w:c":{"mode":"c","far":"f"}}`},
		{"the leaf goes, its default excludes nothing", "DELETE", "w:c/mode", "", 204, "", `{"w:c":` + strings.Replace(start, `"mode":"a",`, "", 1) + `}`},
		{"another tree", "PUT", "w:switch", `{"w:switch":false}`, 201, "", `{"w:c":` + strings.Replace(start, `"far":"f",`, "", 1) + `}`},
		{"within an entry", "DELETE", "w:c/l=1/v", "", 204, "", `{"w:c":` + strings.Replace(start, `,"v":"v","needs":"n"`, "", 1) + `}`},
		{"in turn", "DELETE", "w:c/only-a", "", 204, "", `{"w:c":` + strings.Replace(start, `"only-a":"x","after":"y",`, "", 1) + `}`},
		{"a mandatory node is required then", "PUT", "w:c/mode", `{"w:mode":"b"}`, 400, `/w:c/sure`, ""},
		{"asked for in the same request", "PATCH", "w:c", `{"w:c":{"mode":"c","tags":["new"]}}`, 400, `"error-path":"/w:c/tags[.='new']"`, ""},
		{"there and asked for", "PATCH", "w:c", `{"w:c":{"mode":"c","only-a":"x"}}`, 400, `"error-path":"/w:c/only-a"`, ""},
		{"an entry asked for", "PATCH", "w:c", `{"w:c":{"mode":"c","l":[{"k":"2"}]}}`, 400, `"error-path":"/w:c/l[k='2']"`, ""},
		{"something below asked for", "PATCH", "w:c", `{"w:c":{"mode":"c","box":{"x":"2"}}}`, 400, `"error-path":"/w:c/box"`, ""},
		{"replaced by what is excluded", "PUT", "w:c", `{"w:c":{"mode":"c","only-a":"x"}}`, 400, `"error-path":"/w:c/only-a"`, ""},
		{"a new one", "PUT", "w:c/held", `{"w:held":{"m":[{"k":"1"}]}}`, 400, `"error-path":"/w:c/held"`, ""},
		{"an entry of a new one", "PUT", "w:c/held/m=1", `{"w:m":[{"k":"1"}]}`, 400, `"error-path":"/w:c/held"`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := withModules(t, whenModule)
			f.want(201, "", "PUT", "/rests/data/w:c", `{"w:c":`+start+`}`)
			before := f.do("GET", "/rests/data/w:c", "").body
			a := f.do(c.method, "/rests/data/"+c.path, c.body)
			if a.code != c.code || !strings.Contains(a.body, c.answer) {
				t.Errorf("got %d %s, want %d %s", a.code, a.body, c.code, c.answer)
			}
			want := c.then
			if want == "" {
				want = before
			}
			got := f.do("GET", "/rests/data/w:c", "").body
			if !sameJSON(t, got, want) {
				t.Errorf("\n got %s\nwant %s", got, want)
			}
		})
	}
}

// The same of lists at the top, of a case, in a YANG patch, and of many entries.
func TestWhenDeletesLists(t *testing.T) {
	f := withModules(t, whenModule)
	f.want(201, "", "PUT", "/rests/data/w:top=1", `{"w:top":[{"k":"1","on":true,"x":"x"}]}`)
	f.want(201, "", "PUT", "/rests/data/w:top=2", `{"w:top":[{"k":"2"}]}`)
	f.want(204, "", "PUT", "/rests/data/w:top=1/on", `{"w:on":false}`)
	f.want(200, `{"w:top":[{"k":"1","on":false}]}`, "GET", "/rests/data/w:top=1", "")
	f.want(201, "", "PUT", "/rests/data/w:switch", `{"w:switch":false}`)
	f.want(404, "", "GET", "/rests/data/w:top=1", "")
	f.want(404, "", "GET", "/rests/data/w:top=2", "")
	f.want(201, "", "PUT", "/rests/data/w:c", `{"w:c":{"mode":"b","sure":"s","held":{"m":[{"k":"1"},{"k":"2"}]}}}`)
	patch := `{"ietf-yang-patch:yang-patch":{"patch-id":"p","edit":[
	  {"edit-id":"1","operation":"replace","target":"/w:c/mode","value":{"w:mode":"a"}},
	  {"edit-id":"2","operation":"create","target":"/w:c/l=7","value":{"w:l":[{"k":"7"}]}}]}}`
	f.want(200, "", "PATCH", "/rests/data", patch, "Content-Type: application/yang-patch+json")
	got := f.do("GET", "/rests/data/w:c", "").body
	if !sameJSON(t, got, `{"w:c":{"mode":"a","l":[{"k":"7"}]}}`) {
		t.Error(got)
	}
	f.want(404, "", "GET", "/rests/data/w:c/held/m=1", "")
	f.want(404, "", "GET", "/rests/data/w:c/sure", "")
}

const predicateModule = `module p {
  yang-version 1.1; namespace "urn:p"; prefix p;
  container at { leaf rack { type string; } leaf kind { type string; default big; }
    list other { key k; leaf k { type string; } } }
  container racks {
    list rack { key id; leaf id { type string; } leaf kind { type string; }
      list slot { key n; leaf n { type uint8; } leaf used { type boolean; } } }
  }
  container use {
    leaf rack { type leafref { path "/p:racks/p:rack[p:kind = /p:at/p:kind]/p:id"; } }
    leaf slot { type leafref { path "/p:racks/p:rack[p:id = current()/../rack]/p:slot/p:n"; } }
    leaf used { type leafref { path "deref(../slot)/../used"; } }
    leaf any { type union { type leafref { path "/p:racks/p:rack[p:kind='big']/p:id"; } type leafref { path "/p:at/p:other/p:k"; } } }
    leaf free { type union { type leafref { path "/p:racks/p:rack[p:kind='big']/p:id"; } type uint8; } }
    leaf loose { type leafref { path "/p:racks/p:rack[p:kind='big']/p:id"; require-instance false; } }
    leaf-list all { type leafref { path "/p:racks/p:rack[p:kind='big']/p:id"; } }
  }
}`

// A reference whose path has predicates or goes by deref() leads to something as the whole path says, at each change that
// it depends on.
func TestReferencesWithPredicates(t *testing.T) {
	f := withModules(t, predicateModule)
	f.want(201, "", "PUT", "/rests/data/p:racks", `{"p:racks":{"rack":[{"id":"a","kind":"big","slot":[{"n":1,"used":true},{"n":2}]},{"id":"b","kind":"small","slot":[{"n":3}]}]}}`)
	put := func(code int, path, value string) {
		t.Helper()
		name := path[strings.LastIndexByte(path, '/')+1:]
		name, _, _ = strings.Cut(name, "=")
		name = strings.TrimPrefix(name, "p:")
		a := f.do("PUT", "/rests/data/p:"+path, `{"p:`+name+`":`+value+`}`)
		if a.code/100 != code/100 || code == 409 && !strings.Contains(a.body, `"error-app-tag":"instance-required"`) {
			t.Errorf("%s %s: %d %s, want %d", path, value, a.code, a.body, code)
		}
	}
	put(409, "use/rack", `"b"`)
	put(409, "use/rack", `"c"`)
	put(200, "use/rack", `"a"`)
	put(409, "use/slot", `3`)
	put(200, "use/slot", `1`)
	put(409, "use/used", `false`)
	put(200, "use/used", `true`)
	put(409, "racks/rack=a/slot=1/used", `false`)
	put(409, "racks/rack=a/kind", `"small"`)
	put(409, "at/kind", `"small"`)
	put(200, "racks/rack=b/slot=3/used", `false`)
	f.want(409, "", "DELETE", "/rests/data/p:racks/rack=a/slot=1", "")
	f.want(204, "", "DELETE", "/rests/data/p:racks/rack=a/slot=2", "")
	put(409, "use/any", `"b"`)
	put(200, "use/any", `"a"`)
	put(200, "at/other=o", `[{"k":"o"}]`)
	put(200, "use/any", `"o"`)
	f.want(409, "", "DELETE", "/rests/data/p:at/other=o", "")
	put(200, "use/free", `7`)
	put(409, "use/free", `"b"`)
	put(200, "use/loose", `"nothing"`)
	put(409, "use/all", `["a","b"]`)
	put(200, "use/all", `["a"]`)
	put(200, "use", `{}`)
	put(200, "racks/rack=a/kind", `"small"`)
}

// sameJSON reports whether two texts are the same value: the order of members does not count.
func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	decode := func(text string) (v any) {
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return v
	}
	return reflect.DeepEqual(decode(a), decode(b))
}
