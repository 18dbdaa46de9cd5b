package restconf

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"ctl.internal/host/internal/restconf/tree"
)

const keysModule = `module ks {
  yang-version 1.1; namespace "urn:ks"; prefix ks;
  container c {
    list one { key k; leaf k { type string; } leaf v { type string; } }
    list two { key "a b"; leaf a { type string; } leaf b { type string; } }
    leaf-list ll { type string; }
  }
}`

var anyKeys = []string{
	`DOM\user`, "50%25", "%", "%%41", "a\tb", "line\nend\r", "..", ".", "a/../b", "/", "a,b", "a=b", ";x=1", "?q#f", "[a='b']", `"`, `'"`, " ", "",
	"ünï\u2028\u0085", "\u007f", "*", "a+b", "ks:one", "😀", "\U0010fffd", "&<>",
}

// An entry with any key is created, found at its Location, followed, and deleted there.
func TestKeysOfEveryCharacter(t *testing.T) {
	f := withModules(t, keysModule)
	text := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	f.want(201, "", "PUT", "/rests/data/ks:c", `{"ks:c":{}}`)
	for _, k := range anyKeys {
		for _, body := range []string{
			text(map[string]any{"ks:one": []any{map[string]string{"k": k}}}),
			text(map[string]any{"ks:two": []any{map[string]string{"a": k, "b": k + k}}}),
			text(map[string]any{"ks:ll": []any{k}}),
		} {
			at := f.want(201, "", "POST", "/rests/data/ks:c", body).header.Get("Location")
			got := f.want(200, "", "GET", at, "").body
			if !equalJSON(got, body) {
				t.Errorf("%q: at %s is %s, not %s", k, at, got, body)
			}
			set := f.now.Schema
			p, err := tree.ParseText(set, strings.TrimPrefix(at, "/rests/data"))
			if err != nil {
				t.Fatal(err)
			}
			if again, err := (&exchange{Handler: f.Handler}).parseInstance(p.String()); err != nil || again.Key() != p.Key() {
				t.Errorf("the instance-identifier %s of %s is read as %v, %v", p, at, again, err)
			}
			f.want(204, "", "PUT", at, body)
			f.want(200, "", "HEAD", strings.Replace(at, "/rests/data", "/rests/streams/json/data-change/running", 1), "")
			f.want(204, "", "DELETE", at, "")
		}
	}
}

func equalJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && fmtJSON(x) == fmtJSON(y)
}

func fmtJSON(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// A key that the store cannot hold is the client's fault, said with the limit, when it is written and when it is read.
func TestKeysAboveTheLimitOfTheStore(t *testing.T) {
	f := onDisk(t)
	f.now.Schema = withModules(t, keysModule).now.Schema
	for _, k := range []string{strings.Repeat("k", 70_000), strings.Repeat("k", 15_380), strings.Repeat("/", 6_000)} {
		for _, a := range []answer{
			f.want(400, "", "POST", "/rests/data/ks:c", `{"ks:one":[{"k":"`+k+`"}]}`),
			f.want(400, "", "PUT", "/rests/data/ks:c/one="+url.QueryEscape(k), `{"ks:one":[{"k":"`+k+`"}]}`),
			f.want(400, "", "GET", "/rests/data/ks:c/one="+url.QueryEscape(k), ""),
		} {
			if !strings.Contains(a.body, "15360") || len(a.body) > 1000 {
				t.Errorf("%.300s", a.body)
			}
		}
	}
	f.want(201, "", "POST", "/rests/data/ks:c", `{"ks:one":[{"k":"`+strings.Repeat("k", 15_000)+`"}]}`)
}

// A path that nobody can read has an error of RESTCONF's form.
func TestErrorsOfPathsHaveTheirForm(t *testing.T) {
	f := newFixture(t)
	for path, member := range map[string]string{"/rests/data/a%00": "ietf-restconf:errors", "/restconf/config/../x": "errors"} {
		var v map[string]any
		if a := f.want(400, "", "GET", path, ""); json.Unmarshal([]byte(a.body), &v) != nil || v[member] == nil {
			t.Errorf("%s: %s", path, a.body)
		}
	}
}
