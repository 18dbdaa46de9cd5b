package restconf

import (
	"strings"
	"testing"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/restconf/tree"
)

const choiceModule = `module ch {
  yang-version 1.1; namespace "urn:ch"; prefix ch;
  container top {
    choice c {
      case a { list cm2 { key k; leaf k { type string; } leaf v { type string; } } leaf beside { type string; } }
      case b { leaf-list cm3 { type int8; } }
      case d { container cm4 { list in { key k; leaf k { type string; } } } }
      case e {
        choice inner {
          case x { list cm5 { key k; leaf k { type string; } } }
          case y { leaf cm6 { type string; } }
        }
      }
    }
    leaf always { type string; }
  }
  choice at-top {
    case p { list tl { key k; leaf k { type string; } } }
    case q { leaf tq { type string; } }
  }
}`

// Each node of one case removes those of all others, whatever documents they are in.
func TestACaseRemovesTheOthers(t *testing.T) {
	nodes := map[string]struct{ path, body, left string }{
		"list":      {"/top/cm2=1", `{"ch:cm2":[{"k":"1"}]}`, `"cm2":[{"k":"1"}]`},
		"leaf":      {"/top/beside", `{"ch:beside":"b"}`, `"beside":"b"`},
		"leaf-list": {"/top/cm3=1", `{"ch:cm3":[1]}`, `"cm3":[1]`},
		"container": {"/top/cm4/in=i", `{"ch:in":[{"k":"i"}]}`, `"cm4":{"in":[{"k":"i"}]}`},
		"nested":    {"/top/cm5=5", `{"ch:cm5":[{"k":"5"}]}`, `"cm5":[{"k":"5"}]`},
		"nested y":  {"/top/cm6", `{"ch:cm6":"6"}`, `"cm6":"6"`},
	}
	for first, a := range nodes {
		for second, b := range nodes {
			if first == second || first == "list" && second == "leaf" || first == "leaf" && second == "list" {
				continue
			}
			f := withModules(t, choiceModule)
			f.want(201, "", "PUT", "/rests/data/ch:top/always", `{"ch:always":"x"}`)
			f.want(201, "", "PUT", "/rests/data/ch:"+a.path[1:], a.body)
			f.want(201, "", "PUT", "/rests/data/ch:"+b.path[1:], b.body)
			got := f.do("GET", "/rests/data/ch:top", "").body
			if want := `{"ch:top":{"always":"x",` + b.left + `}}`; got != want {
				t.Errorf("%s, then %s: %s, want %s", first, second, got, want)
			}
			f.want(200, "", "GET", "/rests/data/ch:top?fields=cm2;cm3;cm4;cm5;cm6", "")
			f.want(200, "", "GET", "/rests/data?depth=1", "")
		}
	}
}

// A merge and a POST choose a case, too, and so do nodes at the top of a module.
func TestEveryEditChoosesACase(t *testing.T) {
	f := withModules(t, choiceModule)
	f.want(201, "", "PUT", "/rests/data/ch:top/cm2=1", `{"ch:cm2":[{"k":"1"}]}`)
	f.want(204, "", "PATCH", "/rests/data/ch:top", `{"ch:top":{"cm3":[1]}}`)
	f.want(200, `{"ch:top":{"cm3":[1]}}`, "GET", "/rests/data/ch:top", "")
	f.want(201, "", "POST", "/rests/data/ch:top", `{"ch:cm4":{"in":[{"k":"i"}]}}`)
	f.want(200, `{"ch:top":{"cm4":{"in":[{"k":"i"}]}}}`, "GET", "/rests/data/ch:top", "")
	f.want(201, "", "PUT", "/rests/data/ch:tl=1", `{"ch:tl":[{"k":"1"}]}`)
	f.want(201, "", "PUT", "/rests/data/ch:tq", `{"ch:tq":"q"}`)
	f.want(404, "", "GET", "/rests/data/ch:tl", "")
	f.want(201, "", "PUT", "/rests/data/ch:tl=1", `{"ch:tl":[{"k":"1"}]}`)
	f.want(404, "", "GET", "/rests/data/ch:tq", "")
}

// What an older release stored, two cases and a value that its type no longer allows, is read, and the data of
// others with it.
func TestWhatIsStoredNeverMakesAReadFail(t *testing.T) {
	f := withModules(t, choiceModule)
	for key, value := range map[string]string{
		"/ch:top": `{"always":"x","cm3":[1,700]}`, "/ch:top/cm2=1": `{"k":"1","v":{"no":"leaf"}}`,
	} {
		if _, err := f.config.Commit(t.Context(), datastore.Txn{Ops: []datastore.Op{datastore.Put(tree.ConfigNamespace, key, []byte(value))}}); err != nil {
			t.Fatal(err)
		}
	}
	f.want(200, "", "GET", "/rests/data?depth=3", "")
	if got := f.want(200, "", "GET", "/rests/data/ch:top?fields=always;cm2;cm3", "").body; !strings.Contains(got, `"always":"x"`) {
		t.Error(got)
	}
}

// A list without entries is no instance: it neither chooses a case nor excludes another one.
func TestListWithoutEntriesChoosesNoCase(t *testing.T) {
	f := withModules(t, `module e { yang-version 1.1; namespace "urn:e"; prefix e;
	  container c { choice ch { leaf a { type string; } list b { key k; leaf k { type string; } } leaf-list d { type string; min-elements 2; } } } }`)
	f.want(201, "", "PUT", "/rests/data/e:c", `{"e:c":{"a":"x","b":[],"d":[]}}`)
	f.want(204, "", "PATCH", "/rests/data/e:c", `{"e:c":{"b":[],"d":[]}}`)
	f.want(200, `{"e:a":"x"}`, "GET", "/rests/data/e:c/a", "")
	f.want(412, "", "PUT", "/rests/data/e:c", `{"e:c":{"d":["1"]}}`)
	f.want(400, "", "PUT", "/rests/data/e:c", `{"e:c":{"b":[],"b":[]}}`)
	f.want(204, "", "PUT", "/rests/data/e:c", `{"e:c":{"d":["1","2"]}}`)
	f.want(404, "", "GET", "/rests/data/e:c/a", "")
}
