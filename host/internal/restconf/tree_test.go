package restconf

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/sdk/fault"
)

// names answers the resources of the ordered list.
func (f *fixture) names() string {
	f.t.Helper()
	var v struct {
		I struct {
			Rule []struct {
				Resource string `json:"resource"`
			} `json:"rule"`
		} `json:"inventory"`
	}
	if err := json.Unmarshal([]byte(f.do("GET", old, "").body), &v); err != nil {
		f.t.Fatal(err)
	}
	var names []string
	for _, r := range v.I.Rule {
		names = append(names, r.Resource)
	}
	return strings.Join(names, " ")
}

func TestUserOrder(t *testing.T) { engines(t, userOrder) }

func userOrder(t *testing.T, f *fixture) {
	f.want(201, "", "PUT", old, `{lab:inventory:{lab:rule:[{lab:resource:'/z/**',lab:permission:[{lab:role:admin,lab:actions:[get,put]},{role:user,actions:[get]}]},{resource:'/a'}]}}`)
	f.want(200, `{"rule":[{"resource":"/z/**","permission":[{"role":"admin","actions":["get","put"]},{"role":"user","actions":["get"]}]}]}`,
		"GET", old+"/rule/%2Fz%2F**", "")
	rule := func(name string) string { return `{"lab:rule":[{"resource":"` + name + `"}]}` }
	for _, c := range []struct {
		code         int
		method, path string
		name, want   string
	}{
		{201, "POST", lab, "m", "/z/** /a m"},
		{201, "POST", lab + "?insert=first", "f", "f /z/** /a m"},
		{201, "POST", lab + "?insert=before&point=%2Flab%3Ainventory%2Frule%3Dm", "b", "f /z/** /a b m"},
		{201, "POST", lab + "?insert=after&point=/rests/data/lab:inventory/rule=f", "g", "f g /z/** /a b m"},
		{204, "PUT", lab + "/rule=m?insert=first", "m", "m f g /z/** /a b"},
		{204, "PUT", lab + "/rule=f", "f", "m f g /z/** /a b"},
		{204, "PATCH", lab + "/rule=f", "f", "m f g /z/** /a b"},
		{201, "PUT", lab + "/rule=l?insert=last", "l", "m f g /z/** /a b l"},
		{400, "PUT", lab + "/rule=x?insert=before", "x", "m f g /z/** /a b l"},
		{400, "PUT", lab + "/rule=x?insert=sideways", "x", "m f g /z/** /a b l"},
		{400, "PUT", lab + "/rule=x?insert=after&point=/lab:inventory/rule=none", "x", "m f g /z/** /a b l"},
		{204, "DELETE", lab + "/rule=m", "", "f g /z/** /a b l"},
	} {
		f.want(c.code, "", c.method, c.path, rule(c.name))
		if got := f.names(); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.method, c.path, got, c.want)
		}
	}
	f.want(204, "", "PUT", lab, `{"inventory":{"rule":[{"resource":"l"},{"resource":"f"},{"resource":"n"}]}}`)
	if got := f.names(); got != "l f n" {
		t.Errorf("after a replacement: %s", got)
	}
	// Many inserts at one place always find room.
	for range 60 {
		f.want(204, "", "PUT", lab+"/rule=n?insert=before&point=/lab:inventory/rule=f", rule("n"))
		f.want(204, "", "PUT", lab+"/rule=f?insert=before&point=/lab:inventory/rule=n", rule("f"))
	}
	if got := f.names(); got != "l f n" {
		t.Errorf("after many moves: %s", got)
	}
}

func TestLeafLists(t *testing.T) {
	f := newFixture(t)
	f.want(201, "", "PUT", lab+"/tag", `{"lab:tag":["b","a"]}`)
	f.want(201, "", "POST", lab, `{"lab:tag":["c"]}`)
	f.want(409, "", "POST", lab, `{"lab:tag":["c"]}`)
	f.want(201, "", "POST", lab+"?insert=first", `{"lab:tag":["d"]}`)
	f.want(200, `{"lab:tag":["d","b","a","c"]}`, "GET", lab+"/tag", "")
	f.want(200, `{"lab:tag":["a"]}`, "GET", lab+"/tag=a", "")
	f.want(204, "", "DELETE", lab+"/tag=b", "")
	f.want(201, "", "PUT", lab+"/tag=e", `{"lab:tag":["e"]}`)
	f.want(400, "", "PUT", lab+"/tag", `{"lab:tag":["e","e"]}`)
	f.want(200, `{"lab:inventory":{"tag":["d","a","c","e"]}}`, "GET", lab, "")
}

func TestQueryParameters(t *testing.T) {
	f := newFixture(t)
	f.want(201, "", "PUT", lab, `{"inventory":{"owner":"nobody","serial":"18446744073709551615","device":[{"name":"a","port":161,"slot":[{"shelf":1,"number":1,"card":"x"}]}]}}`)
	if err := f.Operational().Set(context.Background(), f.now.Schema, "/lab:inventory/device=a", []byte(`{"name":"a","uptime":5}`)); err != nil {
		t.Fatal(err)
	}
	if err := f.Operational().Set(context.Background(), f.now.Schema, "/lab:state", []byte(`{"uptime":"9"}`)); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		"?content=config":                      `{"lab:inventory":{"owner":"nobody","serial":"18446744073709551615","device":[{"name":"a","port":161,"slot":[{"shelf":1,"number":1,"card":"x"}]}]}}`,
		"":                                     `{"lab:inventory":{"owner":"nobody","serial":"18446744073709551615","device":[{"name":"a","port":161,"slot":[{"shelf":1,"number":1,"card":"x"}],"uptime":5}]}}`,
		"?content=nonconfig":                   `{"lab:inventory":{"device":[{"name":"a","uptime":5}]}}`,
		"?content=config&depth=1":              `{"lab:inventory":{}}`,
		"?content=config&depth=2":              `{"lab:inventory":{"owner":"nobody","serial":"18446744073709551615","device":[{"name":"a"}]}}`,
		"?fields=owner;device(name;slot/card)": `{"lab:inventory":{"owner":"nobody","device":[{"name":"a","slot":[{"card":"x"}]}]}}`,
		"?fields=device/name":                  `{"lab:inventory":{"device":[{"name":"a"}]}}`,
		"?fields=owner&with-defaults=trim":     `{"lab:inventory":{}}`,
		"?content=config&fields=device&with-defaults=trim":    `{"lab:inventory":{"device":[{"name":"a","slot":[{"shelf":1,"number":1,"card":"x"}]}]}}`,
		"?content=config&fields=owner&with-defaults=explicit": `{"lab:inventory":{"owner":"nobody"}}`,
	} {
		f.want(200, want, "GET", lab+query, "")
	}
	f.want(200, `{"lab:limits":{"most":3,"least":1}}`, "GET", lab+"/limits?with-defaults=report-all", f.seed(lab+"/limits", `{"limits":{"most":3}}`))
	f.want(200, `{"inventory":{"device":[{"name":"a","uptime":5}]}}`, "GET", "/restconf/operational/lab:inventory", "")
	f.want(200, `{"lab:state":{"uptime":"9"}}`, "GET", "/rests/data/lab:state", "")
	f.want(404, "", "GET", "/restconf/config/lab:state", "")
	f.want(405, "", "PUT", "/restconf/config/lab:state", `{"state":{"uptime":"1"}}`)
	// What a plugin keeps its state in is operational data as well.
	f.now.Owned = map[string]bool{"lab:inventory": true}
	f.want(200, `{"inventory":{"owner":"nobody","serial":18446744073709551615,"limits":{"most":3},"device":[{"name":"a","port":161,"slot":[{"shelf":1,"number":1,"card":"x"}],"uptime":5}]}}`,
		"GET", "/restconf/operational/lab:inventory", "")
	for _, bad := range []string{"depth=0", "depth=x", "content=some", "fields=owner(", "fields=bogus", "fields=", "with-defaults=report-all-tagged",
		"unknown=1", "depth=1&depth=2", "insert=first", "fields=%zz"} {
		f.want(400, "", "GET", lab+"?"+bad, "")
	}
	f.want(200, "", "GET", old+"?prettyPrint=true", "")
	f.want(400, "", "DELETE", lab+"?depth=1", "")
}

// seed writes something first; it returns an empty body for want.
func (f *fixture) seed(target, body string) string {
	if a := f.do("PUT", target, body); a.code >= 300 {
		f.t.Errorf("PUT %s: %d %s", target, a.code, a.body)
	}
	return ""
}

func TestWholeDatastore(t *testing.T) {
	f := newFixture(t)
	f.want(200, `{"ietf-restconf:data":{}}`, "GET", "/rests/data", "")
	f.want(204, "", "PUT", "/rests/data", `{"ietf-restconf:data":{"lab:inventory":{"note":"x"},"network-topology:network-topology":{"topology":[{"topology-id":"t"}]}}}`)
	f.want(200, `{"ietf-restconf:data":{"lab:inventory":{"note":"x"},"network-topology:network-topology":{"topology":[{"topology-id":"t"}]}}}`, "GET", "/rests/data?content=config", "")
	f.want(204, "", "PATCH", "/rests/data", `{"ietf-restconf:data":{"lab:inventory":{"owner":"y"}}}`)
	f.want(200, `{"data":{"inventory":{"note":"x","owner":"y"},"network-topology":{"topology":[{"topology-id":"t"}]}}}`, "GET", "/restconf/config", "")
	f.want(204, "", "PUT", "/rests/data", `{"ietf-restconf:data":{"lab:inventory":{"note":"z"}}}`)
	f.want(200, `{"data":{"inventory":{"note":"z"}}}`, "GET", "/restconf/config", "")
}

func TestMountedNodeOfUnknownTopology(t *testing.T) {
	f := newFixture(t)
	const node = "/restconf/config/network-topology:network-topology/topology/topology-netconf/node/r1"
	f.want(201, "", "PUT", node, `{"node":[{"node-id":"r1","lab:mounted":true}]}`)
	f.want(200, `{"node":[{"node-id":"r1","lab:mounted":true}]}`, "GET", node, "")
	f.want(200, `{"network-topology:node":[{"node-id":"r1","lab:mounted":true}]}`, "GET", "/rests/data/network-topology:network-topology/topology=topology-netconf/node=r1", "")
	f.want(200, `{"network-topology":{"topology":[{"topology-id":"topology-netconf","node":[{"node-id":"r1","lab:mounted":true}]}]}}`,
		"GET", "/restconf/config/network-topology:network-topology", "")
}

func TestYANGPatch(t *testing.T) { engines(t, yANGPatch) }

func yANGPatch(t *testing.T, f *fixture) {
	f.seed(lab, `{"inventory":{"device":[{"name":"a"}],"rule":[{"resource":"r1"},{"resource":"r2"}]}}`)
	const media = "Content-Type: application/yang-patch+json"
	f.want(200, `{"ietf-yang-patch:yang-patch-status":{"ok":[null],"patch-id":"p1"}}`, "PATCH", lab, `{"ietf-yang-patch:yang-patch":{"patch-id":"p1","edit":[
		{"edit-id":"1","operation":"create","target":"/device=b","value":{"lab:device":[{"name":"b","peer":"c"}]}},
		{"edit-id":"2","operation":"create","target":"/device=c","value":{"lab:device":[{"name":"c"}]}},
		{"edit-id":"3","operation":"delete","target":"/device=a"},
		{"edit-id":"4","operation":"merge","target":"/limits","value":{"lab:limits":{"most":1}}},
		{"edit-id":"5","operation":"move","target":"/rule=r2","where":"first"},
		{"edit-id":"6","operation":"insert","target":"/rule=r0","where":"before","point":"/rule=r1","value":{"lab:rule":[{"resource":"r0"}]}},
		{"edit-id":"7","operation":"remove","target":"/note"}]}}`, media)
	const state = `{"lab:inventory":{"limits":{"most":1},"device":[{"name":"b","peer":"c"},{"name":"c"}],"rule":[{"resource":"r2"},{"resource":"r0"},{"resource":"r1"}]}}`
	f.want(200, state, "GET", lab+"?content=config", "")
	a := f.want(409, "", "PATCH", lab, `{"yang-patch":{"patch-id":"p2","edit":[
		{"edit-id":"1","operation":"delete","target":"/device=b"},
		{"edit-id":"2","operation":"create","target":"/device=c","value":{"lab:device":[{"name":"c"}]}}]}}`, media)
	if !strings.Contains(a.body, `"edit-id":"2"`) || !strings.Contains(a.body, "data-exists") {
		t.Error(a.body)
	}
	f.want(409, "", "PATCH", lab, `{"yang-patch":{"patch-id":"p3","edit":[{"edit-id":"1","operation":"delete","target":"/device=c"}]}}`, media)
	f.want(400, "", "PATCH", lab, `{"yang-patch":{"edit":[]}}`, media)
	f.want(400, "", "PATCH", lab, `{"yang-patch":{"patch-id":"p","edit":[{"edit-id":"1","operation":"explode","target":"/note"}]}}`, media)
	f.want(200, state, "GET", lab+"?content=config", "")
}

func TestGuard(t *testing.T) {
	f := newFixture(t)
	var after string
	f.config2(map[string]tree.Validator{"lab:inventory": func(_ context.Context, v json.RawMessage) error {
		after = string(v)
		return fault.New(fault.InUse, "not now")
	}})
	f.want(409, "", "PUT", lab+"/note", `{"note":"x"}`)
	if after != `{"note":"x"}` {
		t.Errorf("the guard saw %s", after)
	}
	f.want(404, "", "GET", lab, "")
}

// config2 sets guards on a handler that is there already.
func (f *fixture) config2(g map[string]tree.Validator) { f.Config().Validators = g }

func TestTreeForOtherRooms(t *testing.T) {
	f := newFixture(t)
	ctx, set := context.Background(), f.now.Schema
	if v, err := f.Config().Get(ctx, set, "/lab:inventory"); v != nil || err != nil {
		t.Errorf("absent data: %s, %v", v, err)
	}
	f.seed(lab+"/device=a", `{"device":[{"name":"a"}]}`)
	v, err := f.Config().Get(ctx, set, "/lab:inventory/device")
	if string(v) != `[{"name":"a"}]` || err != nil {
		t.Errorf("got %s, %v", v, err)
	}
	if err := f.Config().Set(ctx, set, "/lab:inventory/device=a", nil); err != nil {
		t.Error(err)
	}
	f.want(404, "", "GET", lab+"/device=a", "")
}

func TestStaticState(t *testing.T) {
	f := newFixture(t)
	a := f.want(200, "", "GET", "/rests/data/ietf-yang-library:modules-state", "")
	if !strings.Contains(a.body, `{"name":"lab","revision":"2024-03-01","schema":"/rests/modules/lab?revision=2024-03-01","namespace":"urn:test:lab","conformance-type":"implement"}`) {
		t.Error(a.body)
	}
	f.now.Streams = []Stream{{Name: "lab", Description: "d"}}
	f.want(200, `{"ietf-restconf-monitoring:streams":{"stream":[{"name":"lab","description":"d","replay-support":false,"access":[{"encoding":"json","location":"/rests/streams/json/lab"},{"encoding":"xml","location":"/rests/streams/xml/lab"}]}]}}`,
		"GET", "/rests/data/ietf-restconf-monitoring:restconf-state/streams", "")
	f.want(405, "", "PUT", "/rests/data/ietf-yang-library:modules-state", "{}")
	f.want(400, "", "GET", "/rests/data/ietf-yang-library:modules-state/nothing", "")
}

func TestWholeLists(t *testing.T) {
	f := newFixture(t)
	f.want(201, "", "PUT", old+"/device", `{"device":[{"name":"a"},{"name":"b"}]}`)
	f.want(200, `{"device":[{"name":"a"},{"name":"b"}]}`, "GET", old+"/device", "")
	f.want(200, "", "PUT", old+"/device", `{"device":[{"name":"b"},{"name":"c"}]}`)
	f.want(200, `{"inventory":{"device":[{"name":"b"},{"name":"c"}]}}`, "GET", old, "")
	f.want(200, "", "PATCH", old+"/device", `{"device":[{"name":"b","port":2}]}`)
	f.want(200, `{"device":[{"name":"b","port":2},{"name":"c"}]}`, "GET", old+"/device", "")
	f.want(200, "", "DELETE", old+"/device", "")
	f.want(404, "", "GET", old+"/device", "")
	f.want(409, "", "DELETE", old+"/device", "")
	f.want(200, `{"ietf-restconf:data":{"lab:inventory":{"owner":"nobody"}}}`, "GET", "/rests/data?with-defaults=report-all", "")
}

func TestTopLevelNodes(t *testing.T) { engines(t, topLevelNodes) }

func topLevelNodes(t *testing.T, f *fixture) {
	const data, config = "/rests/data", "/restconf/config"
	f.want(201, "", "POST", data, `{"lab:host":[{"id":10,"os":"x"}]}`)
	f.want(201, "", "POST", data+"?insert=first", `{"lab:host":[{"id":9}]}`)
	f.want(201, "", "PUT", config+"/lab:host/11", `{"host":[{"id":11,"like":"x"}]}`)
	f.want(409, "", "PUT", config+"/lab:host/11/like", `{"like":"y"}`)
	f.want(200, `{"lab:host":[{"id":9},{"id":10,"os":"x"},{"id":11,"like":"x"}]}`, "GET", data+"/lab:host", "")
	f.want(409, "", "DELETE", data+"/lab:host=10", "")
	f.want(200, "", "PUT", config+"/lab:host", `{"host":[{"id":2},{"id":1}]}`)
	f.want(200, `{"host":[{"id":2},{"id":1}]}`, "GET", config+"/lab:host", "")
	f.want(200, "", "PATCH", config+"/lab:host", `{"host":[{"id":1,"os":"z"},{"id":3}]}`)
	f.want(200, `{"data":{"host":[{"id":2},{"id":1,"os":"z"},{"id":3}]}}`, "GET", config, "")
	f.want(204, "", "DELETE", data+"/lab:host", "")
	f.want(200, `{"data":{}}`, "GET", config, "")

	f.want(201, "", "PUT", data+"/lab:motto", `{"lab:motto":"per aspera"}`)
	f.want(200, `{"lab:motto":"per aspera"}`, "GET", data+"/lab:motto", "")
	f.want(201, "", "POST", data, `{"lab:word":["b"]}`)
	f.want(201, "", "POST", data+"?insert=before&point=/lab:word=b", `{"lab:word":["a"]}`)
	f.want(201, "", "POST", data+"?insert=after&point=/lab:word=b", `{"lab:word":["d"]}`)
	f.want(201, "", "PUT", data+"/lab:word=c?insert=after&point=/lab:word=b", `{"lab:word":["c"]}`)
	f.want(204, "", "PUT", data+"/lab:word=d?insert=first", `{"lab:word":["d"]}`)
	f.want(400, "", "POST", data+"?insert=after&point=/lab:word=none", `{"lab:word":["e"]}`)
	f.want(200, `{"lab:word":["d","a","b","c"]}`, "GET", data+"/lab:word", "")
	f.want(200, `{"lab:word":["b"]}`, "GET", data+"/lab:word=b", "")
	f.want(204, "", "DELETE", data+"/lab:word=b", "")
	f.want(409, "", "DELETE", data+"/lab:word=b", "")
	f.want(200, `{"data":{"motto":"per aspera","word":["d","a","c"]}}`, "GET", config, "")
}
