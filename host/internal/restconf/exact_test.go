package restconf

import (
	"strings"
	"testing"
)

const exactModule = `module ex {
  yang-version 1.1; namespace "urn:ex"; prefix ex;
  container c {
    list l { key k; unique "u"; min-elements 0; max-elements 2; leaf k { type string; } leaf u { type string; } }
    leaf-list few { type string; min-elements 2; }
    choice must { mandatory true; leaf a { type string; } leaf b { type string; } }
    leaf r { type leafref { path "../l/k"; } }
    leaf loose { type leafref { path "../l/k"; require-instance false; } }
    leaf i { type instance-identifier; }
    leaf li { type instance-identifier { require-instance false; } }
    leaf un { type union { type uint8; type instance-identifier; } }
    leaf n { type int16; }
    leaf s { type string; }
    list o { key k; ordered-by user; leaf k { type string; } }
  }
}`

// Programs tell the faults of RFC 7950 section 15 apart by their tags; the text stays for people.
func TestTagsOfConstraints(t *testing.T) {
	f := withModules(t, exactModule)
	const good = `"few":["1","2"],"a":"x"`
	for _, c := range []struct{ body, tag, app string }{
		{`{"l":[{"k":"1","u":"x"},{"k":"2","u":"x"}],` + good + `}`, "operation-failed", "data-not-unique"},
		{`{"l":[{"k":"1"},{"k":"2"},{"k":"3"}],` + good + `}`, "operation-failed", "too-many-elements"},
		{`{"few":["1"],"a":"x"}`, "operation-failed", "too-few-elements"},
		{`{"a":"x"}`, "operation-failed", "too-few-elements"},
		{`{"few":["1","2"]}`, "data-missing", "missing-choice"},
		{`{"r":"none",` + good + `}`, "data-missing", "instance-required"},
		{`{"i":"/ex:c/s",` + good + `}`, "data-missing", "instance-required"},
	} {
		for _, method := range []string{"PUT", "POST"} {
			target, body := "/rests/data/ex:c", `{"ex:c":`+c.body+`}`
			if method == "POST" {
				target = "/rests/data"
			}
			code := map[string]int{"operation-failed": 412, "data-missing": 409}[c.tag] // RFC 8040 section 7
			got := f.want(code, "", method, target, body).body
			if !strings.Contains(got, `"error-tag":"`+c.tag+`","error-app-tag":"`+c.app+`"`) {
				t.Errorf("%s: %s", c.body, got)
			}
		}
	}
	f.want(201, "", "PUT", "/rests/data/ex:c", `{"ex:c":{"l":[{"k":"1","u":"x"}],"o":[{"k":"p"}],`+good+`}}`)
	got := f.want(400, "", "POST", "/rests/data/ex:c?insert=before&point=%2Fex%3Ac%2Fo%3Dnone", `{"ex:o":[{"k":"q"}]}`).body
	if !strings.Contains(got, `"error-tag":"bad-attribute","error-app-tag":"missing-instance"`) {
		t.Error(got)
	}
}

// An instance-identifier leads to an instance, also after what it leads to has gone.
func TestInstanceIdentifiersLeadToInstances(t *testing.T) {
	f := withModules(t, exactModule)
	const rest = `"few":["1","2"],"a":"x"`
	f.want(201, "", "PUT", "/rests/data/ex:c", `{"ex:c":{"l":[{"k":"k's"},{"k":"2"}],"s":"s","i":"/ex:c/l[k=\"k's\"]/k",`+rest+`}}`)
	f.want(201, "", "PUT", "/rests/data/ex:c/li", `{"ex:li":"/ex:c/n"}`)
	for path, code := range map[string]int{
		"/ex:c/s": 204, "/ex:c": 204, "/ex:c/l[k='2']": 204, "/ex:c/few[.='2']": 204, "/ex:c/ex:few[.='1']": 204, "/ex:c/l[2]": 409,
		"/ex:c/few[.='3']": 409, "/ex:c/n": 409, "/ex:c/l[k='3']": 409, "/no:thing": 409, "/ex:c/nothing": 409, "/ex:c/l[x='2']": 409,
	} {
		f.want(code, "", "PUT", "/rests/data/ex:c/i", `{"ex:i":"`+path+`"}`)
		if strings.Contains(path, "ex:c") && code == 204 {
			f.want(204, "", "PATCH", "/rests/data/ex:c", `{"ex:c":{"un":"`+path+`"}}`)
		}
	}
	f.want(409, "", "PUT", "/rests/data/ex:c/un", `{"ex:un":"/ex:c/n"}`)
	f.want(204, "", "PUT", "/rests/data/ex:c/un", `{"ex:un":5}`)
	f.want(204, "", "PUT", "/rests/data/ex:c/i", `{"ex:i":"/ex:c/l[k='2']"}`)
	f.want(409, "", "DELETE", "/rests/data/ex:c/l=2", "")
	f.want(204, "", "DELETE", "/rests/data/ex:c/i", "")
	f.want(204, "", "DELETE", "/rests/data/ex:c/l=2", "")
}

// What RFC 8040, 8072 and 7951 do not allow is refused below /rests, and numbers have one canonical form.
func TestExactForms(t *testing.T) {
	f := withModules(t, exactModule)
	f.want(201, "", "PUT", "/rests/data/ex:c", `{"ex:c":{"o":[{"k":"p"}],"few":["1","2"],"a":"x"}}`)
	f.want(400, "", "POST", "/rests/data/ex:c", `{"ex:l":[{"k":"1"},{"k":"2"}]}`)
	f.want(404, "", "GET", "/rests/data/ex:c/l=1", "")
	f.want(400, "", "POST", "/rests/data/ex:c?point=%2Fex%3Ac%2Fo%3Dp", `{"ex:o":[{"k":"q"}]}`)
	f.want(400, "", "PUT", "/rests/data/ex:c/o=p?point=%2Fex%3Ac%2Fo%3Dp", `{"ex:o":[{"k":"p"}]}`)
	patch := func(edit string) string {
		return `{"ietf-yang-patch:yang-patch":{"patch-id":"p","edit":[{"edit-id":"e",` + edit + `}]}}`
	}
	const yangPatch = "Content-Type: application/yang-patch+json"
	f.want(400, "", "PATCH", "/rests/data/ex:c", patch(`"operation":"delete","target":"/o=p","value":{"ex:o":[{"k":"p"}]}`), yangPatch)
	f.want(400, "", "PATCH", "/rests/data/ex:c", patch(`"operation":"merge","target":"/o=p","where":"first","value":{"ex:o":[{"k":"p"}]}`), yangPatch)
	f.want(200, "", "PATCH", "/rests/data/ex:c", patch(`"operation":"delete","target":"/o=p"`), yangPatch)
	for _, bad := range []string{`{n:5}`, `{"ex:n":'5'}`, `{"ex:n":"5"}`, `{"ex:n":5,}`, `{"ex:n":05}`, `{"ex:n":+5}`} {
		f.want(400, "", "PUT", "/rests/data/ex:c/n", bad)
	}
	f.want(400, "", "PUT", "/rests/data/ex:c/s", `{"ex:s":tru}`)
	f.want(400, "", "PUT", "/restconf/config/ex:c/s", `{"ex:s":tru}`)
	f.want(400, "", "PUT", "/restconf/config/ex:c/s", `{"ex:s":"`+"\ufffe"+`"}`)
	f.want(400, "", "PUT", "/rests/data/ex:c/s", `<s xmlns="urn:ex">`+"\ufffe"+`</s>`, "Content-Type: application/yang-data+xml")
	for text, want := range map[string]string{"+5": "5", "05": "5", "-007": "-7", "-0": "0", "0x10": "", "1e1": "", "+": "", "5 ": "5"} {
		code, body := 400, ""
		if want != "" {
			code, body = 204, `{"ex:n":`+want+`}`
		}
		f.do("PUT", "/rests/data/ex:c/n", `{"ex:n":1}`)
		f.want(code, "", "PUT", "/rests/data/ex:c/n", `<n xmlns="urn:ex">`+text+`</n>`, "Content-Type: application/yang-data+xml")
		if body != "" {
			f.want(200, body, "GET", "/rests/data/ex:c/n", "")
		}
	}
	f.want(204, "", "PUT", "/rests/data/ex:c/n", `{"n":6}`) // a name that is unique in its place needs no module
	f.want(201, "", "PUT", "/rests/data/ex:c/l=1", `{"ex:l":[{"k":"1","u":"u"}]}`)
	f.want(200, `{"ex:l":[{"k":"1"}]}`, "GET", "/rests/data/ex:c/l=1?depth=1", "")
	f.want(200, `{"ex:c":{"l":[{"k":"1"}]}}`, "GET", "/rests/data/ex:c?depth=2&fields=l", "")
}
