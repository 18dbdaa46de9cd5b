package restconf

import (
	"net/http/httptest"
	"strings"
	"testing"

	"ctl.internal/host/internal/datastore"
)

const vaultModule = `module vault {
	yang-version 1.1; namespace "urn:test:vault"; prefix v;
	import ctl-schema { prefix ctl; }
	container vault {
		leaf name { type string; }
		list rack {
			key id;
			leaf id { type string; }
			leaf height { type uint8; }
			leaf console-password { type string { length 1..20; } ctl:secret; }
			leaf pin { type uint16; ctl:secret; }
			container keys { ctl:secret; leaf-list key { type string; } list of { key user; leaf user { type string; } leaf text { type string; } } }
		}
	}
	rpc open { output { leaf token { type string; ctl:secret; } } }
	notification opened { leaf id { type string; } leaf token { type string; ctl:secret; } }
}`

const (
	vaultAt  = "/rests/data/vault:vault"
	rackBody = `{"id":"r1","height":5,"console-password":"HUNTER2","pin":61234,"keys":{"key":["HUNTER3"],"of":[{"user":"HUNTER4","text":"HUNTER5"}]}}`
)

// hidesSecrets checks that an answer has none of the secrets.
func hidesSecrets(t *testing.T, what, text string) {
	t.Helper()
	if strings.Contains(text, "HUNTER") || strings.Contains(text, "61234") {
		t.Errorf("%s shows a secret: %s", what, text)
	}
}

// storedRack is what the store holds of the rack r1.
func (f *fixture) storedRack() string {
	f.t.Helper()
	var b strings.Builder
	err := f.config.View(f.t.Context(), func(sn datastore.Snapshot) error {
		for e, err := range sn.Range("config-tree", datastore.RangeOptions{Prefix: "/vault:vault/rack=r1"}) {
			if err != nil {
				return err
			}
			b.WriteString(e.Key + " " + string(e.Value) + "\n")
		}
		return nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return b.String()
}

func TestSecretsAreShownNowhere(t *testing.T) {
	f := withModules(t, vaultModule)
	f.now.Streams = []Stream{{Name: "vault"}}
	f.want(201, "", "PUT", vaultAt, `{"vault:vault":{"name":"n","rack":[`+rackBody+`]}}`)
	if stored := f.storedRack(); !strings.Contains(stored, "HUNTER2") || !strings.Contains(stored, "HUNTER5") {
		t.Fatalf("the secrets are not stored: %s", stored)
	}
	places := []string{
		"/rests/data", vaultAt, vaultAt + "/rack", vaultAt + "/rack=r1", vaultAt + "/rack=r1/console-password",
		"/restconf/config/vault:vault", "/restconf/config/vault:vault/rack/r1", "/restconf/operational/vault:vault", "/restconf/data/vault:vault",
		"/rests/ds/ietf-datastores:running/vault:vault", "/rests/ds/ietf-datastores:intended", "/rests/ds/ietf-datastores:operational/vault:vault?with-origin",
	}
	queries := []string{"", "content=config", "content=all", "depth=3", "depth=65535", "fields=rack(id;console-password;pin;keys)", "with-defaults=report-all", "prettyPrint=true"}
	for _, at := range places {
		for _, q := range queries {
			join := "?"
			if strings.Contains(at, "?") {
				join = "&"
			}
			for _, accept := range []string{"application/yang-data+json", "application/yang-data+xml", "application/json", "application/xml"} {
				a := f.do("GET", at+join+q, "", "Accept: "+accept)
				hidesSecrets(t, at+join+q+" as "+accept, a.body)
			}
		}
	}
	const shown = `{"vault:rack":[{"@":{"ctl-schema:masked":"pin keys"},"id":"r1","height":5,"console-password":"**********"}]}`
	f.want(200, shown, "GET", vaultAt+"/rack=r1", "")
	for _, where := range []string{"console-password='HUNTER2'", "pin=61234"} {
		if a := f.do("GET", vaultAt+"/rack?where="+where, ""); strings.Contains(a.body, "r1") {
			t.Errorf("a filter finds out a secret: %s", a.body)
		}
	}
	for _, leftOut := range []string{"/pin", "/keys", "/keys/key"} {
		hidesSecrets(t, leftOut, f.want(403, "", "GET", vaultAt+"/rack=r1"+leftOut, "").body)
	}
}

func TestWritesKeepMaskedSecrets(t *testing.T) {
	f := withModules(t, vaultModule)
	const rack = vaultAt + "/rack=r1"
	write := func() {
		t.Helper()
		if a := f.do("PUT", vaultAt, `{"vault:vault":{"rack":[`+rackBody+`]}}`); a.code > 204 {
			t.Fatalf("%d %s", a.code, a.body)
		}
	}
	patch := func(edit string) string {
		return `{"ietf-yang-patch:yang-patch":{"patch-id":"p","edit":[{"edit-id":"e",` + edit + `}]}}`
	}
	const masked = `{"@":{"ctl-schema:masked":"pin keys"},"id":"r1","height":6,"console-password":"**********"}`
	const inXML = `<rack xmlns="urn:test:vault" xmlns:ctl="urn:ctl:params:xml:ns:yang:ctl-schema" ctl:masked="pin keys"><id>r1</id><height>6</height>` +
		`<console-password>**********</console-password></rack>`
	for _, c := range []struct{ method, at, body, media string }{
		{"PUT", rack, `{"vault:rack":[` + masked + `]}`, "application/yang-data+json"},
		{"PUT", "/restconf/config/vault:vault/rack/r1", `{"rack":[` + masked + `]}`, "application/json"},
		{"PATCH", rack, `{"vault:rack":[{"id":"r1","height":6,"console-password":"**********"}]}`, "application/yang-data+json"},
		{"PUT", rack, inXML, "application/yang-data+xml"},
		{"PUT", vaultAt, `{"vault:vault":{"rack":[` + masked + `]}}`, "application/yang-data+json"},
		{"PATCH", vaultAt, patch(`"operation":"replace","target":"/rack=r1","value":{"vault:rack":[` + masked + `]}`), "application/yang-patch+json"},
		{"PATCH", vaultAt, patch(`"operation":"merge","target":"/rack=r1","value":{"vault:rack":[` + masked + `]}`), "application/yang-patch+json"},
	} {
		write()
		if a := f.do(c.method, c.at, c.body, "Content-Type: "+c.media); a.code > 204 {
			t.Errorf("%s %s %s: %d %s", c.method, c.at, c.body, a.code, a.body)
			continue
		}
		stored := f.storedRack()
		for _, s := range []string{`"height":6`, "HUNTER2", "61234", "HUNTER3", "HUNTER4", "HUNTER5"} {
			if !strings.Contains(stored, s) {
				t.Errorf("%s %s %s: %s is lost: %s", c.method, c.at, c.body, s, stored)
			}
		}
	}
	write()
	f.want(204, "", "PUT", rack+"/console-password", `{"vault:console-password":"**********"}`)
	f.want(204, "", "PUT", rack+"/console-password", `{"vault:console-password":"HUNTER9"}`)
	if stored := f.storedRack(); !strings.Contains(stored, "HUNTER9") {
		t.Errorf("a new secret is not written: %s", stored)
	}
	f.want(204, "", "DELETE", rack+"/keys", "")
	f.want(200, `{"vault:rack":[{"@":{"ctl-schema:masked":"pin"},"id":"r1","height":5,"console-password":"**********"}]}`, "GET", rack, "")
	f.want(400, "", "PUT", vaultAt+"/rack=r2", `{"vault:rack":[{"id":"r2","console-password":"**********"}]}`)
	f.want(400, "", "POST", vaultAt, `{"vault:rack":[{"id":"r2","console-password":"**********"}]}`)
	f.want(400, "", "PUT", rack, `{"vault:rack":[{"@":{"ctl-schema:masked":"keys"},"id":"r1"}]}`)
	hidesSecrets(t, "an error", f.want(400, "", "PUT", rack, `{"vault:rack":[{"id":"r1","console-password":"HUNTER2HUNTER2HUNTER2HUNTER2"}]}`).body)
	hidesSecrets(t, "an error", f.want(400, "", "PATCH", vaultAt,
		patch(`"operation":"merge","target":"/rack=r1","value":{"vault:rack":[{"id":"r1","console-password":"HUNTER2HUNTER2HUNTER2"}]}`),
		"Content-Type: application/yang-patch+json").body)
}

func TestEventsAndOperationsHideSecrets(t *testing.T) {
	f := withModules(t, vaultModule)
	f.answers["vault:open"] = func(string) (string, error) { return `{"token":"HUNTER1"}`, nil }
	f.want(200, `{"vault:output":{"token":"**********"}}`, "POST", "/rests/operations/vault:open", "")
	hidesSecrets(t, "an operation", f.want(200, "", "POST", "/restconf/operations/vault:open", "", "Accept: application/xml").body)
	events, stop := f.feed()
	defer stop()
	srv := httptest.NewServer(f)
	t.Cleanup(srv.Close) // after the streams
	inJSON := openStream(t, srv, "/rests/streams/json/lab")
	inXML := openStream(t, srv, "/rests/streams/xml/lab")
	changes := openStream(t, srv, "/rests/streams/json/data-change/running/vault:vault")
	events <- Event{Time: f.clock, Name: "vault:opened", Data: []byte(`{"id":"r1","token":"HUNTER1"}`)}
	events <- Event{Time: f.clock, Name: "other:opened", Data: []byte(`{"id":"r1","access-token":"HUNTER1"}`)}
	for range 2 {
		for _, s := range []*sse{inJSON, inXML} {
			data, _ := s.next()
			hidesSecrets(t, "an event", data)
			if !strings.Contains(data, "r1") {
				t.Errorf("the event is %s", data)
			}
		}
	}
	for _, body := range []string{rackBody, strings.ReplaceAll(rackBody, "HUNTER", "HUNTER-"), strings.Replace(rackBody, "61234", "61235", 1)} {
		if a := f.do("PUT", vaultAt+"/rack=r1", `{"vault:rack":[`+body+`]}`); a.code > 204 {
			t.Fatalf("%d %s", a.code, a.body)
		}
		data, _ := changes.next()
		hidesSecrets(t, "a change", strings.ReplaceAll(data, "61235", "61234"))
	}
	f.want(204, "", "DELETE", vaultAt+"/rack=r1/keys/of=HUNTER4", "")
	data, _ := changes.next()
	hidesSecrets(t, "a change", data)
}
