package restconf

import (
	"fmt"
	"strings"
	"testing"
)

func TestDatastores(t *testing.T) {
	f := newFixture(t)
	const run, oper, in = "/rests/ds/ietf-datastores:running", "/rests/ds/ietf-datastores:operational", "/rests/ds/ietf-datastores:intended"
	a := f.want(201, "", "POST", run, `{"lab:inventory":{"note":"n","device":[{"name":"a"}]}}`)
	if l := a.header.Get("Location"); l != run+"/lab:inventory" {
		t.Errorf("Location %q", l)
	}
	for _, ds := range []string{run, in} {
		f.want(200, `{"lab:inventory":{"note":"n","device":[{"name":"a"}]}}`, "GET", ds+"/lab:inventory", "")
		f.want(404, "", "GET", ds+"/lab:state", "")
	}
	f.observe("/lab:inventory/device=a", `{"name":"a","uptime":7}`)
	f.observe("/lab:state", `{"uptime":9}`)
	f.want(200, `{"lab:inventory":{"note":"n","device":[{"name":"a"}]}}`, "GET", run+"/lab:inventory", "")
	f.want(200, `{"lab:inventory":{"note":"n","device":[{"name":"a","uptime":7,"port":161}],"owner":"nobody"}}`, "GET", oper+"/lab:inventory", "")
	f.want(200, `{"lab:inventory":{"@":{"ietf-origin:origin":"ietf-origin:intended"},"note":"n","device":[{"name":"a","uptime":7,"@uptime":{"ietf-origin:origin":"ietf-origin:learned"},`+
		`"port":161,"@port":{"ietf-origin:origin":"ietf-origin:default"}}],"owner":"nobody","@owner":{"ietf-origin:origin":"ietf-origin:default"}}}`,
		"GET", oper+"/lab:inventory?with-origin", "")
	f.want(200, `<state xmlns="urn:test:lab" xmlns:or="urn:ietf:params:xml:ns:yang:ietf-origin" or:origin="or:learned"><uptime>9</uptime></state>`, "GET", oper+"/lab:state?with-origin", "", asksXML)
	f.want(200, `{"lab:uptime":"9"}`, "GET", oper+"/lab:state/uptime", "")
	f.want(200, `{"lab:uptime":"9","@lab:uptime":{"ietf-origin:origin":"ietf-origin:learned"}}`, "GET", oper+"/lab:state/uptime?with-origin", "")
	f.want(200, `{"lab:inventory":{"@":{"ietf-origin:origin":"ietf-origin:intended"},"note":"n"}}`, "GET", oper+"/lab:inventory?with-origin&fields=note", "")
	f.want(200, `{"lab:inventory":{"@":{"ietf-origin:origin":"ietf-origin:intended"}}}`, "GET", oper+"/lab:inventory?depth=1&with-origin", "")
	for _, at := range []string{run + "/lab:inventory?with-origin", in + "/lab:inventory?with-origin", lab + "?with-origin", oper + "/lab:state?with-origin=true",
		oper + "/lab:state?with-origin&with-origin", oper + "/lab:inventory?with-origin&with-defaults=report-all"} {
		f.want(400, "", "GET", at, "")
	}
	f.want(405, "", "PUT", in+"/lab:inventory", `{"inventory":{}}`)
	f.want(405, "", "DELETE", oper+"/lab:inventory", "")
	f.want(200, `{"lab:inventory":{"note":"n"}}`, "GET", run+"/lab:inventory?fields=note", "")
	f.want(200, `{"lab:inventory":{"note":"n","device":[{"name":"a","port":161}],"owner":"nobody"}}`, "GET", run+"/lab:inventory?with-defaults=report-all", "")
	f.want(404, "", "GET", "/rests/ds/ietf-datastores:candidate/lab:inventory", "")
	f.want(404, "", "GET", "/restconf/ds/ietf-datastores:running", "")
	f.want(200, "", "GET", oper+"/ietf-yang-library:yang-library/content-id", "")
	f.want(204, "", "DELETE", run+"/lab:inventory", "")
}

// observe writes into the operational tree, as plugins do.
func (f *fixture) observe(path, value string) {
	f.t.Helper()
	if err := f.Operational().Set(f.t.Context(), f.now.Schema, path, []byte(value)); err != nil {
		f.t.Fatal(err)
	}
}

func TestPagesOfLists(t *testing.T) {
	f := newFixture(t)
	var b strings.Builder
	for i := range 25 {
		fmt.Fprintf(&b, `{"name":"sw%02d","port":%d,"slot":[{"shelf":1,"number":%d}]},`, i, 1000-i*13, i%3)
	}
	f.want(201, "", "PUT", lab, `{"inventory":{"device":[`+strings.TrimSuffix(b.String(), ",")+`],"tag":["x","z","y"]}}`)
	names := func(query string, headers ...string) (string, answer) {
		t.Helper()
		a := f.want(200, "", "GET", lab+"/device?fields=name&"+query, "", headers...)
		return strings.NewReplacer(`{"lab:device":[`, "", `]}`, "", `{"name":"sw`, "", `"}`, "").Replace(a.body), a
	}
	for query, want := range map[string]string{
		"limit=3":                     "00,01,02",
		"limit=3&offset=23":           "23,24",
		"offset=30":                   "",
		"limit=2&direction=backwards": "24,23",
		"limit=2&sort-by=port":        "24,23",
		"where=port%3E975":            "00,01",
		"where=starts-with(name,'sw1')%20and%20not(slot/number=2)": "10,12,13,15,16,18,19",
		"where=slot%5Bnumber='2'%5D&limit=2":                       "02,05",
		"where=name='sw03'%20or%20name=%22sw07%22":                 "03,07",
	} {
		if got, _ := names(query); got != want {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
	// Following the links reads the whole list once.
	var all []string
	target := lab + "/device?limit=4"
	for range 20 {
		a := f.want(200, "", "GET", target, "")
		for i := range 25 {
			if strings.Contains(a.body, fmt.Sprintf(`"name":"sw%02d"`, i)) {
				all = append(all, fmt.Sprint(i))
			}
		}
		link := a.header.Get("Link")
		next, _, ok := strings.Cut(strings.TrimPrefix(link, "<"), `>; rel="next"`)
		if !ok {
			break
		}
		target = next
	}
	if len(all) != 25 || all[24] != "24" {
		t.Errorf("read %v", all)
	}
	_, a := names("limit=2&content=config")
	tag := a.header.Get("ETag")
	f.want(304, "", "GET", lab+"/device?fields=name&limit=2&content=config", "", "If-None-Match: "+tag)
	f.want(204, "", "PATCH", lab+"/device=sw20", `{"device":[{"name":"sw20","port":1}]}`)
	f.want(304, "", "GET", lab+"/device?fields=name&limit=2&content=config", "", "If-None-Match: "+tag)
	f.want(204, "", "PATCH", lab+"/device=sw01", `{"device":[{"name":"sw01","port":1}]}`)
	f.want(200, "", "GET", lab+"/device?fields=name&limit=2&content=config", "", "If-None-Match: "+tag)
	f.want(200, `{"lab:tag":["z"]}`, "GET", lab+"/tag?limit=1&offset=1", "")
	for _, q := range []string{"limit=0", "limit=x", "offset=-1", "direction=up", "cursor=none", "sort-by=nothing", "sort-by=slot", "where=(", "where=nothing()", "where=name%20="} {
		f.want(400, "", "GET", lab+"/device?"+q, "")
	}
	f.want(400, "", "GET", lab+"/device=sw01?limit=1", "")
}
