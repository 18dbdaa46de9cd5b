package restconf

import (
	"strings"
	"testing"

	"ctl.internal/sdk/fault"
)

// TestClientsOfUpstream has the requests at which a client that was written for OpenDaylight met another
// answer here, each with what was decided (docs/restconf.md). Those about users are in package idm.
func TestClientsOfUpstream(t *testing.T) {
	f := newFixture(t)
	f.answers["lab:rediscover"] = func(string) (string, error) { return "", fault.New(fault.Unavailable, "x") }
	f.want(201, "", "PUT", lab, `{"inventory":{"device":[{"name":"a"}]}}`)
	for _, c := range []struct {
		row, method, target, body, headers string
		code                               int
		want                               string
	}{
		{"XML out", "GET", lab, "", asksXML, 200, "<inventory "},
		{"XML in", "PATCH", lab, `<inventory ` + labNS + `><note>n</note></inventory>`, sendsXML, 204, ""},
		{"YANG patch as XML", "PATCH", lab, `<yang-patch xmlns="urn:ietf:params:xml:ns:yang:ietf-yang-patch"><patch-id>p</patch-id><edit><edit-id>e</edit-id><operation>merge</operation>` +
			`<target>/device=a</target><value><device ` + labNS + `><name>a</name><address>x</address></device></value></edit></yang-patch>`, "Content-Type: application/yang-patch+xml", 200, "<ok/>"},
		{"the root", "GET", "/rests", "", "", 200, `"yang-library-version"`},
		{"the root with a slash", "GET", "/rests/", "", "", 200, `"yang-library-version"`},
		{"GET of absent data", "GET", lab + "/device=zz", "", "", 404, `"error-tag":"invalid-value"`},
		{"GET of an unknown node", "GET", lab + "/nosuch", "", "", 400, `"error-tag":"unknown-element"`},
		{"GET of an unknown module", "GET", "/rests/data/nosuch:x", "", "", 400, `"error-tag":"unknown-element"`},
		{"DELETE of absent data", "DELETE", lab + "/device=zz", "", "", 409, `"error-tag":"data-missing"`},
		{"PATCH of absent data creates nothing", "PATCH", lab + "/device=zz", `{"device":[{"name":"zz"}]}`, "", 404, `"error-tag":"invalid-value"`},
		{"unavailable", "POST", "/rests/operations/lab:rediscover", "", "", 503, `"error-tag":"operation-failed"`},
		{"YANG patch lists the edits before the failed one", "PATCH", lab, `{"yang-patch":{"patch-id":"p","edit":[{"edit-id":"e1","operation":"create","target":"/device=b","value":{"lab:device":[{"name":"b"}]}},{"edit-id":"e2","operation":"delete","target":"/device=zz"}]}}`,
			"Content-Type: application/yang-patch+json", 409, `[{"edit-id":"e1","errors":{"error":[{"error-type":"protocol","error-tag":"operation-failed","error-message":"not kept`},
		{"nothing of it is kept", "GET", lab + "/device=b", "", "", 404, ""},
		{"errors below /rests", "GET", lab + "/device=zz", "", "", 404, `{"ietf-restconf:errors":`},
		{"errors below /restconf", "GET", old + "/device/zz", "", "", 404, `{"errors":`},
		{"If-Match of another state", "PUT", lab + "/device=a", `{"device":[{"name":"a"}]}`, `If-Match: "other"`, 412, ""},
		{"PUT of a leaf", "PUT", lab + "/note", `{"lab:note":"x"}`, "", 204, ""},
		{"with-defaults", "GET", lab + "/device=a?with-defaults=report-all", "", "", 200, `"port":161`},
		{"insert", "PUT", lab + "/rule=r?insert=first", `{"rule":[{"resource":"r"}]}`, "", 201, ""},
		{"point at nothing", "PUT", lab + "/rule=s?insert=after&point=/lab:inventory/rule=none", `{"rule":[{"resource":"s"}]}`, "", 400, `"error-tag":"bad-attribute","error-app-tag":"missing-instance"`},
		{"insert without a point", "PUT", lab + "/rule=s?insert=after", `{"rule":[{"resource":"s"}]}`, "", 400, `"error-tag":"invalid-value"`},
		{"rules at run time", "GET", "/rests/data/aaa-app-config:shiro-configuration", "", "", 400, `"error-tag":"unknown-element"`},
		{"mount", "GET", lab + "/device=a/yang-ext:mount", "", "", 400, `"error-tag":"unknown-element"`},
		{"module as YANG", "GET", "/rests/modules/lab?revision=2024-03-01", "", "Accept: application/yang", 200, "module lab {"},
		{"module as YIN", "GET", "/rests/modules/lab?revision=2024-03-01", "", "Accept: application/yin+xml", 200, `<module name="lab"`},
		{"library of RFC 8525", "GET", "/rests/data/ietf-yang-library:yang-library/content-id", "", "", 200, "content-id"},
		{"library of RFC 7895", "GET", "/rests/data/ietf-yang-library:modules-state/module=ietf-yang-library,2019-01-04", "", "", 200, "schema"},
		{"data-change subscription", "POST", "/rests/operations/sal-remote:create-data-change-event-subscription", `{"input":{"path":"/lab:inventory/lab:device[lab:name='a']","sal-remote-augment:datastore":"CONFIGURATION","sal-remote-augment:scope":"ONE"}}`, "", 200, `"stream-name":"data-change-`},
		{"a subscription names its stream", "POST", "/rests/operations/ietf-subscribed-notifications:establish-subscription", `{"input":{}}`, "", 400, "missing-element"},
		{"odl-pretty-print", "GET", lab + "/note?odl-pretty-print=true", "", "", 200, "{\n  \"lab:note\""},
		{"JSON labelled XML below /restconf", "PUT", old + "/note", `{"note":"y"}`, "Content-Type: application/xml", 200, ""},
	} {
		var headers []string
		if c.headers != "" {
			headers = append(headers, c.headers)
		}
		a := f.do(c.method, c.target, c.body, headers...)
		if a.code != c.code || !strings.Contains(a.body, c.want) {
			t.Errorf("%s: %s %s: got %d %s", c.row, c.method, c.target, a.code, a.body)
		}
		if (a.header.Get("Retry-After") != "") != (c.code == 503) {
			t.Errorf("%s: Retry-After %q", c.row, a.header.Get("Retry-After"))
		}
	}
	a := f.want(201, "", "POST", lab, `{"device":[{"name":"* a:b@$"}]}`)
	if l := a.header.Get("Location"); l != lab+"/device=%2A%20a%3Ab%40%24" {
		t.Errorf("Location %s", l)
	}
	f.want(200, "", "GET", a.header.Get("Location"), "")
}
