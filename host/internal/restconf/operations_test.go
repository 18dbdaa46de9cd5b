package restconf

import (
	"net/http"
	"strings"
	"testing"

	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

func TestCallBothEnvelopes(t *testing.T) {
	f := newFixture(t)
	got := ""
	f.answers["lab:add-vlan"] = func(in string) (string, error) { got = in; return `{"add-vlan-result":"SUCCESS"}`, nil }
	f.answers["lab:get-vlan-table"] = func(string) (string, error) {
		return `{"vlan-table-entry":[{"vlan-id":1,"node-id":158969157063648,"port-list":[24,23]}]}`, nil
	}
	f.answers["lab:rediscover"] = func(string) (string, error) { return "", nil }
	const canonical = `{"node-id":158969157063648,"vlan-id":5,"vlan-name":"unnamed"}`
	for _, body := range []string{
		`{"input":{"node-id":158969157063648,"vlan-id":5}}`,
		`{"lab:input":{"node-id":"158969157063648","vlan-id":5}}`,
		`{input:{node-id:158969157063648,'vlan-id':'5'}}`,
	} {
		for target, want := range map[string]string{
			"/restconf/operations/lab:add-vlan":  `{"output":{"add-vlan-result":"SUCCESS"}}`,
			"/restconf/operations/lab:add-vlan/": `{"output":{"add-vlan-result":"SUCCESS"}}`,
			"/rests/operations/lab:add-vlan":     `{"lab:output":{"add-vlan-result":"SUCCESS"}}`,
			"/operations/lab:add-vlan":           `{"output":{"add-vlan-result":"SUCCESS"}}`,
		} {
			got = ""
			if strings.HasPrefix(target, "/rests") && !strings.HasPrefix(body, `{"lab:input`) {
				f.want(400, "", "POST", target, body) // the forms of older clients, 64-bit numbers without quotes too, are read below /restconf
				continue
			}
			f.want(200, want, "POST", target, body, "Content-Type: application/json; charset=UTF-8")
			if got != canonical {
				t.Errorf("%s %s: the plugin got %s", target, body, got)
			}
		}
	}
	f.want(200, `{"output":{"vlan-table-entry":[{"vlan-id":1,"node-id":158969157063648,"port-list":[24,23]}]}}`,
		"POST", "/restconf/operations/lab:get-vlan-table", `{"input":{}}`)
	f.want(200, `{"lab:output":{"vlan-table-entry":[{"vlan-id":1,"node-id":"158969157063648","port-list":[24,23]}]}}`,
		"POST", "/rests/operations/lab:get-vlan-table", ``)
	f.want(200, "", "POST", "/restconf/operations/lab:rediscover", "")
	f.want(204, "", "POST", "/rests/operations/lab:rediscover", `{"input":{}}`)
	f.answers["lab:get-vlan-table"] = func(string) (string, error) { return "", nil }
	f.want(200, `{"output":{}}`, "POST", "/restconf/operations/lab:get-vlan-table", `{"input":{}}`)
}

func TestCallErrors(t *testing.T) {
	f := newFixture(t)
	const url = "/restconf/operations/lab:add-vlan"
	for _, c := range []struct {
		code                          int
		method, target, body, headers string
		want                          string
	}{
		{404, "POST", "/restconf/operations/lab:nothing", `{}`, "", "invalid-value"},
		{404, "POST", "/restconf/operations/nothing", `{}`, "", "invalid-value"},
		{404, "POST", url + "/x", `{}`, "", "invalid-value"},
		{404, "GET", "/restconf/nowhere", "", "", "invalid-value"},
		{405, "GET", url, "", "", "operation-not-supported"},
		{406, "POST", url, `{}`, "Accept: text/html", "invalid-value"},
		{415, "POST", url, `<input/>`, "Content-Type: text/html", "invalid-value"},
		{415, "POST", url, `{}`, "Content-Type: application/json; charset=latin1", "invalid-value"},
		{413, "POST", url, `{"input":"` + strings.Repeat("x", defaultMaxBody) + `"}`, "", "too-big"},
		{400, "POST", url, `{"input":`, "", "malformed-message"},
		{400, "POST", url, ``, "", "missing-element"},
		{400, "POST", url, `{"input":{"node-id":1,"vlan-id":5000}}`, "", "/lab:input/vlan-id"},
		{400, "POST", url, `{"input":{"node-id":1,"vlan-id":5,"x":1}}`, "", "unknown-element"},
		{400, "POST", "/restconf/../operations", ``, "", "invalid-value"},
	} {
		var headers []string
		if c.headers != "" {
			headers = append(headers, c.headers)
		}
		a := f.do(c.method, c.target, c.body, headers...)
		if a.code != c.code || !strings.Contains(a.body, c.want) || !strings.HasPrefix(a.body, `{"errors":{"error":[{`) {
			t.Errorf("%s %s %.60s: got %d %s", c.method, c.target, c.body, a.code, a.body)
		}
	}
	if a := f.do("GET", url, ""); a.header.Get("Allow") != "POST, OPTIONS" {
		t.Errorf("Allow: %q", a.header.Get("Allow"))
	}
	f.want(200, "", "OPTIONS", url, "")
	a := f.do("POST", "/rests/operations/lab:add-vlan", `{"input":{}}`)
	const want = `{"ietf-restconf:errors":{"error":[` +
		`{"error-type":"protocol","error-tag":"missing-element","error-path":"/lab:input/node-id","error-message":"the member is required"},` +
		`{"error-type":"protocol","error-tag":"missing-element","error-path":"/lab:input/vlan-id","error-message":"the member is required"}]}}`
	if a.body != want || a.header.Get("Content-Type") != "application/yang-data+json" {
		t.Errorf("got %s %v", a.body, a.header)
	}
}

func TestUnknownOperationSuggestsOne(t *testing.T) {
	f := newFixture(t)
	a := f.do("POST", "/restconf/operations/lab:add-vlna", `{}`)
	if a.code != 404 || !strings.Contains(a.body, `there is no operation \"lab:add-vlna\" (did you mean \"lab:add-vlan\"?)`) {
		t.Errorf("%d %s", a.code, a.body)
	}
}

func TestPluginErrorTable(t *testing.T) {
	f := newFixture(t)
	for _, c := range []struct {
		err  error
		code int
		tag  string
	}{
		{fault.New(fault.Internal, "x"), 500, "operation-failed"},
		{http.ErrBodyNotAllowed, 500, "operation-failed"},
		{fault.New(fault.Invalid, "x"), 400, "invalid-value"},
		{fault.New(fault.NotFound, "x"), 404, "invalid-value"},
		{fault.New(fault.Exists, "x"), 409, "data-exists"},
		{fault.New(fault.Denied, "x"), 403, "access-denied"},
		{fault.New(fault.InUse, "x"), 409, "in-use"},
		{fault.New(fault.Unavailable, "x"), 503, "operation-failed"},
		{fault.New(fault.Timeout, "x"), 504, "operation-failed"},
		{fault.Device(fault.Timeout, "x"), 500, "operation-failed"},
		{fault.Device(fault.Downstream, "x"), 500, "operation-failed"},
		{fault.New(fault.Unsupported, "x"), 501, "operation-not-supported"},
		{fault.New(fault.TooBig, "x"), 413, "too-big"},
		{fault.New(fault.Kind(99), "x"), 500, "operation-failed"},
	} {
		f.answers["lab:rediscover"] = func(string) (string, error) { return "", c.err }
		a := f.do("POST", "/restconf/operations/lab:rediscover", "")
		if a.code != c.code || !strings.Contains(a.body, `"error-type":"application","error-tag":"`+c.tag+`"`) {
			t.Errorf("%v: got %d %s", c.err, a.code, a.body)
		}
		if (a.header.Get("Retry-After") != "") != (a.code == 503) {
			t.Errorf("%v: Retry-After %q", c.err, a.header.Get("Retry-After"))
		}
	}
}

func TestPluginOutputIsChecked(t *testing.T) {
	f := newFixture(t)
	f.answers["lab:add-vlan"] = func(string) (string, error) { return `{"add-vlan-result":"SUCCESS","secret":1}`, nil }
	const body = `{"input":{"node-id":1,"vlan-id":2}}`
	f.want(200, `{"output":{"add-vlan-result":"SUCCESS"}}`, "POST", "/restconf/operations/lab:add-vlan", body)
	f.answers["lab:add-vlan"] = func(string) (string, error) { return `{"add-vlan-result":"PERHAPS"}`, nil }
	a := f.want(500, "", "POST", "/restconf/operations/lab:add-vlan", body)
	if strings.Contains(a.body, "PERHAPS") {
		t.Errorf("the plugin's text reaches the client: %s", a.body)
	}
}

func TestAliasesAndFacet(t *testing.T) {
	f := newFixture(t)
	var err error
	f.now.Aliases, err = yang.NewAliasIndex(f.now.Schema, yang.AliasSet{
		Modules: map[string]string{"laboratory": "lab"}, RPCs: map[string]string{"lab:add-vlna": "add-vlan"},
		Inputs: map[string]yang.Aliases{"lab:*": {Members: map[string]string{"switch-id": "node-id"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	f.answers["lab:add-vlan"] = func(in string) (string, error) { return `{"add-vlan-result":"SUCCESS"}`, nil }
	f.want(200, "", "POST", "/restconf/operations/laboratory:add-vlna", `{"input":{"switch-id":1,"vlan-id":2}}`)
	f.now.REST = map[string]bool{"lab": false}
	f.want(404, "", "POST", "/restconf/operations/lab:add-vlan", `{"input":{"node-id":1,"vlan-id":2}}`)
	f.want(200, `{"operations":{`+subscriptionOperations+`"sal-remote:create-data-change-event-subscription":[null]}}`, "GET", "/restconf/operations", "")
	f.want(400, "", "PUT", lab, `{"inventory":{}}`)
	f.want(201, "", "PUT", "/rests/data/network-topology:network-topology", `{"network-topology":{}}`)
}

func TestResources(t *testing.T) {
	f := newFixture(t)
	f.want(200, `{"ietf-restconf:operations":{`+subscriptionOperations+`"lab:add-vlan":[null],"lab:get-table":[null],"lab:get-vlan-table":[null],"lab:rediscover":[null],"sal-remote:create-data-change-event-subscription":[null]}}`, "GET", "/rests/operations", "")
	f.want(200, `{"ietf-restconf:yang-library-version":"2019-01-04"}`, "GET", "/rests/yang-library-version", "")
	f.want(200, `{"ietf-restconf:restconf":{"data":{},"operations":{},"yang-library-version":"2019-01-04"}}`, "GET", "/rests", "")
	all := f.want(200, "", "GET", "/restconf/modules", "").body
	for _, m := range []string{`{"name":"ietf-inet-types","revision":"2013-07-15","namespace":"urn:ietf:params:xml:ns:yang:ietf-inet-types"}`,
		`{"name":"lab","revision":"2024-03-01","namespace":"urn:test:lab"}`, `{"name":"ietf-yang-library","revision":"2019-01-04"`} {
		if !strings.Contains(all, m) {
			t.Errorf("%s is not in %s", m, all)
		}
	}
	f.want(200, `{"module":[{"name":"lab","revision":"2024-03-01","namespace":"urn:test:lab"}]}`, "GET", "/restconf/modules/module/lab/2024-03-01", "")
	f.want(404, "", "GET", "/restconf/modules/module/lab/1999-01-01", "")
	f.want(200, `{"links":[{"href":"/rests","rel":"restconf"}]}`, "GET", "/.well-known/host-meta.json", "")
	a := f.want(200, "", "GET", "/.well-known/host-meta", "", "Accept: application/xrd+xml")
	if !strings.Contains(a.body, `<Link rel="restconf" href="/rests"/>`) || a.header.Get("Content-Type") != "application/xrd+xml" {
		t.Errorf("host-meta: %s %v", a.body, a.header)
	}
	if a := f.do("HEAD", "/rests/operations", ""); a.code != 200 || a.body != "" {
		t.Errorf("HEAD: %d %q", a.code, a.body)
	}
}

// A module of a plugin that is installed and does not run is unavailable, not unknown.
func TestModuleOfAPluginThatDoesNotRun(t *testing.T) {
	f := newFixture(t)
	f.o.Absent = func(module string) error {
		if module != "down" {
			return nil
		}
		return fault.New(fault.Unavailable, "this is served by plugin x, which does not run: it is failed: no file")
	}
	for _, c := range []struct {
		method, path string
		code         int
		says         string
	}{
		{"POST", "/rests/operations/down:x", 503, "does not run: it is failed: no file"},
		{"POST", "/restconf/operations/down:x", 503, "does not run: it is failed: no file"},
		{"GET", "/rests/data/down:x", 503, "does not run: it is failed: no file"},
		{"POST", "/rests/operations/other:x", 404, "there is no operation"},
		{"POST", "/rests/operations/lab:nothing", 404, "there is no operation"},
	} {
		if a := f.do(c.method, c.path, "{}"); a.code != c.code || !strings.Contains(a.body, c.says) {
			t.Errorf("%s %s: %d %s", c.method, c.path, a.code, a.body)
		}
	}
}
