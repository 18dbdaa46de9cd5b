package restconf

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

const actionModules = `module act {
  yang-version 1.1; namespace "urn:act"; prefix act;
  container lab {
    leaf limit { type uint8; default 9; }
    container idle { action nudge { output { leaf said { type string; } } } }
    container armed { presence "x"; action fire; }
    list box { key "rack slot"; leaf rack { type string; } leaf slot { type uint8; } leaf most { type uint8; }
      action reset {
        input { leaf delay { type uint8; default 3; must ". <= ../../most" { error-message "too long"; } } leaf by { type string; must "string-length(.) < /act:lab/limit"; } }
        output { leaf at { type uint8; must ". >= ../../slot"; } }
      }
      notification tripped { leaf amps { type uint8; must ". > ../../most"; } leaf why { type string; } }
      list part { key id; leaf id { type string; } notification lost { leaf seen { type string; } } }
    }
    list plain { config false; leaf x { type string; } }
    notification quiet { leaf since { type string; } }
  }
}`

const moreActions = `module more {
  yang-version 1.1; namespace "urn:more"; prefix more; import act { prefix act; }
  augment /act:lab/act:box { action reset { output { leaf done { type boolean; } } } container d { action deep; } }
}`

func actionFixture(t *testing.T) *fixture {
	t.Helper()
	f := withModules(t, actionModules, moreActions)
	f.want(201, "", "PUT", "/rests/data/act:lab", `{"act:lab":{"box":[{"rack":"a/b","slot":7,"most":5}]}}`)
	return f
}

// An action is invoked by a POST to the instance that it is bound to (RFC 8040 section 3.6).
func TestActions(t *testing.T) {
	f := actionFixture(t)
	var got string
	answer := func(out string) func(string) (string, error) {
		return func(in string) (string, error) { got = in; return out, nil }
	}
	f.answers["/act:lab/box/reset"] = answer(`{"at":8}`)
	f.answers["/act:lab/box/more:reset"] = answer(`{"done":true}`)
	f.answers["/act:lab/box/more:d/deep"] = answer("")
	f.answers["/act:lab/idle/nudge"] = answer(`{"said":"yes"}`)
	f.answers["/act:lab/armed/fire"] = answer("")
	const box = "/rests/data/act:lab/box=a%2Fb,7"
	for _, c := range []struct {
		path, body string
		code       int
		answer     string
		plugin     string
	}{
		{box + "/reset", `{"act:input":{"delay":4}}`, 200, `{"act:output":{"at":8}}`, `/act:lab/box=a%2Fb,7 {"delay":4}`},
		{box + "/act:reset", ``, 200, `{"act:output":{"at":8}}`, `/act:lab/box=a%2Fb,7 {"delay":3}`},
		{box + "/more:reset", ``, 200, `{"more:output":{"done":true}}`, `/act:lab/box=a%2Fb,7 {}`},
		{box + "/more:d/deep", ``, 204, ``, `/act:lab/box=a%2Fb,7/more:d {}`},
		{"/rests/ds/ietf-datastores:operational/act:lab/box=a%2Fb,7/reset", ``, 200, `{"act:output":{"at":8}}`, `/act:lab/box=a%2Fb,7 {"delay":3}`},
		{"/restconf/operational/act:lab/box=a%2Fb,7/reset", `{"input":{"delay":"4"}}`, 200, `{"output":{"at":8}}`, `/act:lab/box=a%2Fb,7 {"delay":4}`},
		{"/rests/data/act:lab/idle/nudge", ``, 200, `{"act:output":{"said":"yes"}}`, `/act:lab/idle {}`},
		{box + "/reset", `{"act:input":{"delay":6}}`, 412, `"error-path":"/act:lab/box[rack='a/b'][slot='7']/input/delay","error-message":"too long"`, ""},
		{box + "/reset", `{"act:input":{"by":"123456789"}}`, 412, `/input/by`, ""},
		{box + "/reset", `{"act:input":{"delay":300}}`, 400, `"error-path":"/act:lab/box[rack='a/b'][slot='7']/input/delay"`, ""},
		{box + "/reset", `{"act:input":{"x":1}}`, 400, `unknown-element`, ""},
		{"/rests/data/act:lab/box=x,1/reset", ``, 404, `invalid-value`, ""},
		{"/rests/data/act:lab/armed/fire", ``, 404, `invalid-value`, ""},
		{"/rests/data/act:lab/box/reset", ``, 400, ``, ""},
		{box + "/nothing", ``, 400, `unknown-element`, ""},
		{"/rests/ds/ietf-datastores:running/act:lab/idle/nudge", ``, 400, `unknown-element`, ""},
		{"/restconf/config/act:lab/idle/nudge", ``, 400, `unknown-element`, ""},
	} {
		got = ""
		a := f.do("POST", c.path, c.body)
		if a.code != c.code || !strings.Contains(a.body, c.answer) || got != c.plugin {
			t.Errorf("POST %s %s\n got %d %s, the plugin %q\nwant %d %s, the plugin %q", c.path, c.body, a.code, a.body, got, c.code, c.answer, c.plugin)
		}
	}
	if a := f.do("GET", box+"/reset", ""); a.code != 405 || a.header.Get("Allow") != "POST, OPTIONS" {
		t.Errorf("GET: %d %v %s", a.code, a.header, a.body)
	}
	if a := f.do("OPTIONS", box+"/reset", ""); a.code != 200 || a.header.Get("Allow") != "POST, OPTIONS" {
		t.Errorf("OPTIONS: %d %v", a.code, a.header)
	}
	f.want(201, "", "PUT", "/rests/data/act:lab/armed", `{"act:armed":{}}`)
	f.want(204, "", "POST", "/rests/data/act:lab/armed/fire", "")
	a := f.want(200, `<output xmlns="urn:act"><at>8</at></output>`, "POST", box+"/reset", `<input xmlns="urn:act"><delay>1</delay></input>`, "Content-Type: application/yang-data+xml")
	if a.header.Get("Content-Type") != mediaYANGDataXML || got != `/act:lab/box=a%2Fb,7 {"delay":1}` {
		t.Errorf("%v, the plugin got %q", a.header, got)
	}
}

// What a plugin returns must satisfy the conditions of the output, which may look at the instance and at all data.
func TestConditionsOfOutputs(t *testing.T) {
	f := actionFixture(t)
	f.answers["/act:lab/box/reset"] = func(string) (string, error) { return `{"at":6}`, nil }
	f.want(500, "", "POST", "/rests/data/act:lab/box=a%2Fb,7/reset", "")
	g := withModules(t, `module o { yang-version 1.1; namespace "urn:o"; prefix o; leaf limit { type uint8; default 5; }
	  rpc r { output { leaf a { type uint8; must ". < /o:limit"; } leaf b { when "../a = 1"; type string; } } } }`)
	for _, c := range []struct {
		out  string
		code int
	}{{`{"a":4}`, 200}, {`{"a":5}`, 500}, {`{"a":1,"b":"x"}`, 200}, {`{"a":2,"b":"x"}`, 500}} {
		g.answers["o:r"] = func(string) (string, error) { return c.out, nil }
		g.want(c.code, "", "POST", "/rests/operations/o:r", "")
	}
}

// An error of a plugin that executes an action is an application error.
func TestErrorOfAnAction(t *testing.T) {
	f := actionFixture(t)
	f.answers["/act:lab/idle/nudge"] = func(string) (string, error) { return "", fault.New(fault.InUse, "x") }
	if a := f.do("POST", "/rests/data/act:lab/idle/nudge", ""); a.code != 409 || !strings.Contains(a.body, `"error-type":"application","error-tag":"in-use"`) {
		t.Errorf("%d %s", a.code, a.body)
	}
}

// A notification that is bound to data is sent within what it is of (RFC 8040 section 6.4), if its conditions hold.
func TestNotificationsInData(t *testing.T) {
	f := actionFixture(t)
	var log bytes.Buffer
	f.o.Log = slog.New(slog.NewTextHandler(&log, nil))
	for _, c := range []struct {
		name, data, xml, left string
	}{
		{"act:lab", `{"box":[{"rack":"a/b","slot":7,"tripped":{"amps":6,"why":"x<y"}}]}`,
			`<lab xmlns="urn:act"><box><rack>a/b</rack><slot>7</slot><tripped><amps>6</amps><why>x&lt;y</why></tripped></box></lab>`, ""},
		{"act:lab", `{"box":[{"rack":"a/b","slot":7,"tripped":{"amps":5}}]}`, "", "must satisfy . > ../../most"},
		{"act:lab", `{"box":[{"rack":"q","slot":1,"part":[{"id":"p","lost":{"seen":"never"}}]}]}`,
			`<lab xmlns="urn:act"><box><rack>q</rack><slot>1</slot><part><id>p</id><lost><seen>never</seen></lost></part></box></lab>`, ""},
		{"act:lab", `{"quiet":{"since":"now"}}`, `<lab xmlns="urn:act"><quiet><since>now</since></quiet></lab>`, ""},
	} {
		log.Reset()
		var events []Event
		f.o.Events = func(context.Context, string) func(func(Event)) error {
			return func(emit func(Event)) error {
				emit(Event{Time: f.clock, Name: c.name, Data: []byte(c.data)})
				return errors.New("the end")
			}
		}
		run, err := f.pluginSource("lab")(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := run(func(e Event) { events = append(events, e) }); err == nil {
			t.Error("the reason of the end is lost")
		}
		if c.left != "" {
			if len(events) != 0 || !strings.Contains(log.String(), c.left) {
				t.Errorf("%s: %d events, log %s", c.data, len(events), log.String())
			}
			continue
		}
		if len(events) != 1 {
			t.Fatalf("%s: %d events, log %s", c.data, len(events), log.String())
		}
		const begin = `<notification xmlns="urn:ietf:params:xml:ns:netconf:notification:1.0"><eventTime>2024-05-06T07:08:09Z</eventTime>`
		xml := events[0].encode(asXML, []*yang.Set{f.now.Schema})
		if string(xml) != begin+c.xml+`</notification>` {
			t.Errorf("%s\n got %s\nwant %s", c.data, xml, begin+c.xml)
		}
		json := strings.ReplaceAll(string(events[0].encode(asJSON, nil)), `\u003c`, "<")
		if !strings.Contains(json, `"act:lab":`+c.data) {
			t.Errorf("got %s", json)
		}
	}
	for _, wrong := range []string{`{}`, `{"box":[]}`, `{"box":[{"rack":"a","tripped":{}}]}`, `{"box":[{"rack":"a","slot":1}]}`, `{"quiet":{},"idle":{}}`, `{"box":{}}`,
		`{"nothing":1}`, `{"limit":3}`, `{"quiet":5}`, `[]`, `{"box":[{"rack":"a","slot":1,"tripped":{}},{"rack":"a","slot":2,"tripped":{}}]}`} {
		if n, err := f.now.Schema.DecodeNotification("act", "lab", []byte(wrong)); err == nil {
			t.Errorf("%s was read as a notification: %v", wrong, n)
		}
	}
}
