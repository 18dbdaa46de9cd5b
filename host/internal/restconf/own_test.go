package restconf

import (
	"testing"
)

// What the server says of itself is data like all other: entries have paths, as in
// the example of RFC 8040 section 6.3, and the parameters of a read apply.
func TestOwnStateIsData(t *testing.T) {
	f := newFixture(t)
	f.now.Streams = []Stream{{Name: "lab"}, {Name: "a,b/c", Description: "d"}}
	const mon, lib = "/rests/data/ietf-restconf-monitoring:restconf-state", "/rests/data/ietf-yang-library:modules-state"
	f.want(200, `{"ietf-restconf-monitoring:location":"/rests/streams/json/lab"}`, "GET", mon+"/streams/stream=lab/access=json/location", "")
	f.want(200, `{"ietf-restconf-monitoring:description":"d"}`, "GET", mon+"/streams/stream=a%2Cb%2Fc/description", "")
	f.want(200, `{"description":"d"}`, "GET", "/restconf/operational/ietf-restconf-monitoring:restconf-state/streams/stream/a%2Cb%2Fc/description", "")
	f.want(404, "", "GET", mon+"/streams/stream=nosuch", "")
	f.want(404, "", "GET", mon+"/streams/stream=lab/access=cbor", "")
	f.want(400, "", "GET", mon+"/streams/nothing", "")
	f.want(400, "", "GET", mon+"/streams/stream=lab,x", "")
	f.want(200, `{"ietf-restconf-monitoring:streams":{"stream":[{"name":"lab"},{"name":"a,b/c"}]}}`, "GET", mon+"/streams?fields=stream/name", "")
	f.want(200, `{"ietf-restconf-monitoring:restconf-state":{"capabilities":{},"streams":{}}}`, "GET", mon+"?depth=2", "")
	f.want(404, "", "GET", mon+"?content=config", "")
	f.want(400, "", "GET", mon+"?nosuch=1", "")
	f.want(400, "", "GET", mon+"?fields=nosuch", "")
	f.want(200, `{"ietf-yang-library:module":[{"name":"lab","revision":"2024-03-01","schema":"/rests/modules/lab?revision=2024-03-01","namespace":"urn:test:lab","conformance-type":"implement"}]}`, "GET", lib+"/module=lab,2024-03-01", "")
	f.want(404, "", "GET", lib+"/module=lab,2024-03-02", "")
	f.want(405, "", "DELETE", lib+"/module=lab,2024-03-01", "")
	f.now.Streams = nil
	f.want(200, `{"ietf-restconf-monitoring:streams":{"stream":[]}}`, "GET", mon+"/streams", "")
}

// Allow reports what the resource takes, and Accept-Patch that it takes PATCH.
func TestAllowIsOfTheResource(t *testing.T) {
	f := newFixture(t)
	for target, allow := range map[string]string{
		"/rests/data":                     "GET, HEAD, OPTIONS, PUT, POST, PATCH",
		"/restconf/config":                "GET, HEAD, OPTIONS, PUT, POST, PATCH",
		lab:                               "GET, HEAD, OPTIONS, PUT, POST, PATCH, DELETE",
		lab + "/device=a":                 "GET, HEAD, OPTIONS, PUT, POST, PATCH, DELETE",
		lab + "/device":                   "GET, HEAD, OPTIONS, PUT, PATCH, DELETE",
		lab + "/owner":                    "GET, HEAD, OPTIONS, PUT, PATCH, DELETE",
		"/rests/data/lab:state":           "GET, HEAD, OPTIONS",
		"/rests/operations":               "GET, HEAD, OPTIONS",
		"/restconf/modules":               "GET, HEAD, OPTIONS",
		"/restconf/streams":               "GET, HEAD, OPTIONS",
		"/rests/yang-library-version":     "GET, HEAD, OPTIONS",
		"/.well-known/host-meta":          "GET, HEAD, OPTIONS",
		"/restconf/operational/lab:state": "GET, HEAD, OPTIONS",
	} {
		a := f.want(200, "", "OPTIONS", target, "")
		patch := a.header.Get("Accept-Patch") != ""
		if got := a.header.Get("Allow"); got != allow || patch != (len(allow) > len(allowState)) {
			t.Errorf("%s: Allow %q, Accept-Patch %v", target, got, patch)
		}
		for _, method := range []string{"DELETE", "POST", "TRACE"} {
			if a := f.do(method, target, "{"); a.code == 405 && a.header.Get("Allow") != allow {
				t.Errorf("%s %s: 405 with Allow %q", method, target, a.header.Get("Allow"))
			}
		}
	}
	f.want(405, "", "POST", lab+"/device", `{"lab:device":[{"name":"x"}]}`)
	f.want(405, "", "DELETE", "/rests/data", "")
}

func TestBodiesOfOtherMakes(t *testing.T) {
	f := newFixture(t)
	f.want(201, "", "PUT", lab+"/device=a", "\ufeff"+`{"lab:device":[{"name":"a"}]}`)
	a := f.want(415, "", "PUT", lab+"/device=a", "\x1f\x8b\x08", "Content-Encoding: gzip")
	if a.header.Get("Accept-Encoding") != "identity" {
		t.Errorf("Accept-Encoding: %q", a.header.Get("Accept-Encoding"))
	}
	f.want(204, "", "PUT", lab+"/device=a", `{"lab:device":[{"name":"a"}]}`, "Content-Encoding: identity")
	f.want(400, "", "PUT", lab+"/device=a", "\ufeff\ufeff"+`{"lab:device":[{"name":"a"}]}`)
}

func TestConditionsOfAReadThatMustHold(t *testing.T) {
	f := newFixture(t)
	f.seed(lab+"/device=a", `{"device":[{"name":"a"}]}`)
	a := f.want(200, "", "GET", lab+"?content=config", "")
	f.want(200, "", "GET", lab+"?content=config", "", "If-Match: "+a.header.Get("ETag"))
	f.want(412, "", "GET", lab+"?content=config", "", `If-Match: "other"`)
	f.want(412, "", "HEAD", lab+"?content=config", "", "If-Unmodified-Since: Mon, 06 May 2019 07:08:09 GMT")
	f.want(200, "", "GET", lab+"?content=config", "", "If-Unmodified-Since: "+a.header.Get("Last-Modified"))
	f.want(200, "", "GET", lab+"?content=config", "", "If-Unmodified-Since: rubbish")
}

func TestOperationsRefuseParameters(t *testing.T) {
	f := newFixture(t)
	f.want(400, "", "POST", "/rests/operations/lab:rediscover?depth=1", "")
}
