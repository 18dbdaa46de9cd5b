package restconf

import (
	"os"
	"testing"

	"ctl.internal/internal/yang"
)

// The access policies of the documents are stored and edited as the samples send
// them.
func TestAccessPolicies(t *testing.T) {
	f := newFixture(t)
	src, err := yang.FromFS("aaa", os.DirFS("../aaa"), "yang")
	if err != nil {
		t.Fatal(err)
	}
	set, err := yang.Load(src)
	if err != nil {
		t.Fatal(err)
	}
	f.now = &Installed{Schema: set}
	const container, list = "/restconf/config/aaa:http-authorization", "/restconf/config/aaa:http-authorization/policies"
	f.want(201, "", "PUT", list, `{ aaa:policies: { aaa:policies: [
		{ aaa:resource: '/restconf/modules/**', aaa:permissions: [ { aaa:role: admin, aaa:actions: [get, post, put, patch, delete] } ] },
		{ "aaa:resource": "/**", "aaa:permissions": [ { "aaa:role": "user", "aaa:actions": ["get"] }, {"role":"admin"} ] } ] } }`,
		"Content-Type: application/json", "Accept: application/json")
	f.want(200, `{"policies":{"policies":[`+
		`{"resource":"/restconf/modules/**","permissions":[{"role":"admin","actions":["get","post","put","patch","delete"]}]},`+
		`{"resource":"/**","permissions":[{"role":"user","actions":["get"]},{"role":"admin"}]}]}}`, "GET", list, "")
	f.want(201, "", "POST", list, `{"policies":[{"resource":"/first","description":"d"}]}`)
	f.want(201, "", "POST", "/rests/data/aaa:http-authorization/policies?insert=before&point=/aaa:http-authorization/policies/policies=%252F**",
		`{"aaa:policies":[{"resource":"/before"}]}`)
	f.want(200, `{"policies":[{"resource":"/before"}]}`, "GET", list+"/policies/%2Fbefore", "")
	f.want(200, `{"aaa:policies":[{"resource":"/first","description":"d"}]}`, "GET", "/rests/data/aaa:http-authorization/policies/policies=%2Ffirst", "")
	f.want(200, "", "PUT", list+"/policies/%2Ffirst", `{"aaa:policies":{"aaa:resource":"/first","aaa:permissions":[{"role":"x","actions":["put"]}]}}`)
	f.want(400, "", "PUT", list+"/policies/%2Ffirst", `{"policies":[{"resource":"/first","permissions":[{"actions":["fly"]}]}]}`)
	f.want(200, "", "DELETE", list+"/policies/%2F**", "")
	f.want(200, `{"http-authorization":{"policies":{"policies":[{"resource":"/restconf/modules/**","permissions":[{"role":"admin","actions":["get","post","put","patch","delete"]}]},`+
		`{"resource":"/before"},{"resource":"/first","permissions":[{"role":"x","actions":["put"]}]}]}}}`, "GET", container, "")
	f.want(200, "", "PUT", container, `{"aaa:http-authorization":{"aaa:policies":{"aaa:policies":[]}}}`)
	f.want(200, `{"http-authorization":{"policies":{}}}`, "GET", container, "")

	const broker = "/restconf/config/authorization-schema:simple-authorization/policies/RestConfService/"
	f.want(201, "", "POST", broker, `{"policies":{"resource":"*","service":"RestConfService","role":"user"}}`, "Content-Type: application/xml")
	f.want(200, `{"policies":[{"resource":"*","service":"RestConfService","role":"user"}]}`, "GET", broker, "")
	f.want(200, "", "PUT", broker, `{"policies":{"resource":"*","service":"RestConfService","role":"admin"}}`)
	f.want(400, "", "PUT", broker, `<policies/>`, "Content-Type: application/xml")
}
