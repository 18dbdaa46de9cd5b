package restconf

import (
	"strings"
	"testing"
)

// TestNestedListsAreChecked writes entries whose own lists are wrong, in each way that an entry comes to be.
func TestNestedListsAreChecked(t *testing.T) {
	f := newFixture(t)
	f.want(201, "", "PUT", lab, `{"inventory":{"device":[{"name":"a","cable":[{"id":1,"length":5,"to":"b"}]},{"name":"b"}]}}`)
	before := f.want(200, "", "GET", lab, "").body
	device := func(cable string) string { return `{"device":[{"name":"x","cable":[` + cable + `]}]}` }
	patch := func(edits ...string) string {
		return `{"yang-patch":{"patch-id":"p","edit":[` + strings.Join(edits, ",") + `]}}`
	}
	const nothing, mandatory = "refers to nothing", "required"
	for _, c := range []struct{ method, at, body, want string }{
		{"PUT", "/device=x", device(`{"id":1,"length":1,"to":"nosuch"}`), nothing},
		{"POST", "", device(`{"id":1,"length":1,"to":"nosuch"}`), nothing},
		{"PUT", "/device=x", device(`{"id":1}`), mandatory},
		{"PATCH", "", `{"inventory":` + device(`{"id":1}`) + `}`, mandatory},
		{"PATCH", "", `{"inventory":` + device(`{"id":1,"length":1,"to":"nosuch"}`) + `}`, nothing},
		{"PATCH", "/device=b", `{"device":[{"name":"b","cable":[{"id":1}]}]}`, mandatory},
		{"PUT", "/device=a", `{"device":[{"name":"a","cable":[{"id":1,"length":1,"to":"nosuch"}]}]}`, nothing},
		{"DELETE", "/device=b", "", nothing},
		{"DELETE", "/device=a/cable=1/length", "", mandatory},
		{"patch", "", patch(`{"edit-id":"1","operation":"create","target":"/device=x","value":`+device(`{"id":1,"length":1,"to":"b"}`)+`}`, `{"edit-id":"2","operation":"delete","target":"/device=b"}`), nothing},
		{"patch", "", patch(`{"edit-id":"1","operation":"create","target":"/device=x","value":`+device(`{"id":1,"length":1}`)+`}`, `{"edit-id":"2","operation":"delete","target":"/device=x/cable=1/length"}`), mandatory},
		{"patch", "", patch(`{"edit-id":"1","operation":"replace","target":"/device=a/cable=1","value":{"cable":[{"id":1,"length":2}]}}`, `{"edit-id":"2","operation":"merge","target":"/device=a","value":{"device":[{"name":"a","cable":[{"id":3}]}]}}`), mandatory},
	} {
		method, headers := c.method, []string(nil)
		if method == "patch" {
			method, headers = "PATCH", []string{"Content-Type: application/yang-patch+json"}
		}
		a := f.do(method, lab+c.at, c.body, headers...)
		code := map[string]int{nothing: 409, mandatory: 400}[c.want]
		if a.code != code || !strings.Contains(a.body, c.want) {
			t.Errorf("%s %s %s: %d %s", c.method, c.at, c.body, a.code, a.body)
		}
	}
	f.want(200, before, "GET", lab, "")
	// Together these are valid, in whatever order.
	f.want(200, "", "PATCH", lab, patch(`{"edit-id":"1","operation":"create","target":"/device=x","value":`+device(`{"id":1,"length":1,"to":"y"}`)+`}`,
		`{"edit-id":"2","operation":"create","target":"/device=y","value":{"device":[{"name":"y"}]}}`), "Content-Type: application/yang-patch+json")
}
