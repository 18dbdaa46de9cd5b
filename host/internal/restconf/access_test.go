package restconf

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
)

const deniedModule = `module den {
	yang-version 1.1; namespace "urn:test:den"; prefix d;
	import ietf-netconf-acm { prefix nacm; }
	container den {
		leaf open { type string; }
		container shut { nacm:default-deny-all; leaf a { type string; } action open; }
		list l { key k; leaf k { type string; } leaf fixed { nacm:default-deny-write; type string; } leaf hidden { nacm:default-deny-all; type string; } }
	}
	rpc reset { nacm:default-deny-all; }
	rpc look;
}`

func TestWhatAModuleDeniesByDefault(t *testing.T) {
	f := withModules(t, deniedModule)
	f.answers["den:reset"] = func(string) (string, error) { return "", nil }
	f.answers["den:look"] = f.answers["den:reset"]
	f.answers["/den:den/shut/open"] = f.answers["den:reset"]
	const at = "/rests/data/den:den"
	whole := `{"den:den":{"open":"o","shut":{"a":"SHUT"},"l":[{"k":"1","fixed":"f","hidden":"SHUT"}]}}`
	f.want(201, "", "PUT", at, whole)
	named := map[string]bool{}
	f.o.Opens = func(_ context.Context, method, _, _, name string) bool { return named[method+" "+name] }
	patch := func(edit string) string {
		return `{"ietf-yang-patch:yang-patch":{"patch-id":"p","edit":[{"edit-id":"e",` + edit + `}]}}`
	}
	for _, read := range []string{"/rests/data", at, at + "/l", at + "/l=1", at + "?fields=l;shut", at + "?depth=5", "/restconf/config/den:den", "/rests/ds/ietf-datastores:running/den:den"} {
		for _, accept := range []string{"application/yang-data+json", "application/yang-data+xml"} {
			if a := f.do("GET", read, "", "Accept: "+accept); a.code != 200 || strings.Contains(a.body, "SHUT") {
				t.Errorf("%s as %s: %d %s", read, accept, a.code, a.body)
			}
		}
	}
	f.want(200, `{"den:l":[{"k":"1","fixed":"f"}]}`, "GET", at+"/l=1", "")
	for _, c := range []struct{ method, at, body, media string }{
		{"GET", at + "/shut", "", ""},
		{"GET", at + "/shut/a", "", ""},
		{"GET", at + "/l=1/hidden", "", ""},
		{"PUT", at, whole, ""},
		{"PUT", at, `{"den:den":{"open":"gone"}}`, ""}, // it would remove them
		{"DELETE", at, "", ""},
		{"DELETE", at + "/l=1", "", ""},
		{"PUT", at + "/l=1/fixed", `{"den:fixed":"x"}`, ""},
		{"PATCH", at + "/l=1", `{"den:l":[{"k":"1","fixed":"x"}]}`, ""},
		{"POST", at, `{"den:l":[{"k":"2","hidden":"x"}]}`, ""},
		{"PATCH", at + "/shut", `{"den:shut":{"a":"x"}}`, ""},
		{"PUT", "/restconf/config/den:den/shut", `{"shut":{"a":"x"}}`, ""},
		{"POST", at + "/shut/open", "", ""},
		{"POST", "/rests/operations/den:reset", "", ""},
		{"POST", "/restconf/operations/den:reset", "", ""},
	} {
		if a := f.do(c.method, c.at, c.body); a.code != 403 {
			t.Errorf("%s %s %s: %d %s", c.method, c.at, c.body, a.code, a.body)
		}
	}
	for _, edit := range []string{
		`"operation":"merge","target":"/shut","value":{"den:shut":{"a":"x"}}`,
		`"operation":"delete","target":"/l=1"`,
	} {
		if a := f.do("PATCH", at, patch(edit), "Content-Type: application/yang-patch+json"); a.code != 403 && !strings.Contains(a.body, "access-denied") {
			t.Errorf("%s: %d %s", edit, a.code, a.body)
		}
	}
	f.want(204, "", "PATCH", at, `{"den:den":{"open":"p","l":[{"k":"2"}]}}`)
	f.want(204, "", "DELETE", at+"/l=2", "")
	f.want(204, "", "POST", "/rests/operations/den:look", "")
	named["GET shut"], named["PUT fixed"], named["POST reset"] = true, true, true
	f.want(200, `{"den:shut":{"a":"SHUT"}}`, "GET", at+"/shut", "")
	f.want(204, "", "POST", at+"/shut/open", "")
	f.want(204, "", "PUT", at+"/l=1/fixed", `{"den:fixed":"x"}`)
	f.want(204, "", "POST", "/rests/operations/den:reset", "")
	delete(named, "GET shut")

	srv := httptest.NewServer(f)
	t.Cleanup(srv.Close) // after the streams
	changes := openStream(t, srv, "/rests/streams/json/data-change/running/den:den")
	named["PUT shut"] = true
	f.want(204, "", "PUT", at+"/shut", `{"den:shut":{"a":"SHUT2"}}`)
	f.want(204, "", "PATCH", at, `{"den:den":{"open":"q"}}`)
	if data, _ := changes.next(); strings.Contains(data, "SHUT") || !strings.Contains(data, `"q"`) {
		t.Errorf("a change shows what is denied: %s", data)
	}
}
