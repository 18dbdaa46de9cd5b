package restconf

import (
	"context"
	"strings"
	"testing"
)

// TestReadsArePruned hides a device, a leaf and a whole list from a caller (RFC 8341 section 3.2.4).
func TestReadsArePruned(t *testing.T) {
	f := newFixture(t)
	f.want(201, "", "PUT", lab, `{"inventory":{"note":"n","device":[{"name":"a","port":1},{"name":"b"},{"name":"c","port":3}],"rule":[{"resource":"r"}]}}`)
	whole := f.want(200, "", "GET", lab, "")
	hidden := []string{"/lab:inventory/device=b", "/lab:inventory/device=c/port", "/lab:inventory/rule"}
	f.o.Readable = func(context.Context) func(string) (bool, bool) {
		return func(path string) (may, all bool) {
			path, _ = strings.CutPrefix(path, "/rests/data")
			all = true
			for _, h := range hidden {
				if strings.HasPrefix(path, h) {
					return false, false
				}
				all = all && !strings.HasPrefix(h, path+"/") && !strings.HasPrefix(h, path+"=")
			}
			return true, all
		}
	}
	const pruned = `{"note":"n","device":[{"name":"a","port":1},{"name":"c"}]}`
	a := f.want(200, `{"lab:inventory":`+pruned+`}`, "GET", lab+"?content=config", "")
	if tag := a.header.Get("ETag"); tag == whole.header.Get("ETag") || tag == "" {
		t.Errorf("the tag is %q, that of the whole %q", tag, whole.header.Get("ETag"))
	}
	f.want(304, "", "GET", lab+"?content=config", "", "If-None-Match: "+a.header.Get("ETag"))
	f.want(200, `{"ietf-restconf:data":{"lab:inventory":`+pruned+`}}`, "GET", "/rests/data", "")
	f.want(200, `{"lab:device":[{"name":"a","port":1},{"name":"c"}]}`, "GET", lab+"/device", "")
	f.want(200, `{"lab:device":[]}`, "GET", lab+"/device?where=port=3", "")
	f.want(200, `{"lab:device":[{"name":"c"}]}`, "GET", lab+"/device=c", "")
	f.want(200, `<device xmlns="urn:test:lab"><name>c</name></device>`, "GET", lab+"/device=c", "", "Accept: application/yang-data+xml")
	hidden = append(hidden, "/lab:inventory/device=a", "/lab:inventory/device=c", "/lab:inventory/note")
	f.want(200, `{"ietf-restconf:data":{"lab:inventory":{}}}`, "GET", "/rests/data", "")
	f.want(200, "", "GET", "/rests/data/ietf-yang-library:yang-library", "")
}
