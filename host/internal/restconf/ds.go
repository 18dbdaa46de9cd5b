package restconf

import (
	"net/http"
	"slices"
	"strings"

	"ctl.internal/sdk/fault"
)

// datastores are those of NMDA (RFC 8342) that are served.
var datastores = [...]string{"intended", "operational", "running"}

// datastore serves {+restconf}/ds/ietf-datastores:NAME (RFC 8527). Running and intended are the
// configuration, which nothing transforms on its way; what is observed is operational.
func (x *exchange) datastore() {
	if x.env != rfc8040 {
		x.notFound()
		return
	}
	name := x.shift()
	short, ok := strings.CutPrefix(name, "ietf-datastores:")
	switch {
	case ok && slices.Contains(datastores[:], short):
		x.ds = short
		kind := short
		if short == "operational" {
			kind = "data"
		}
		x.data(kind)
	case name == "":
		if x.methods("GET, HEAD, OPTIONS", http.MethodGet) {
			list := []string{}
			for _, d := range datastores {
				list = append(list, "ietf-datastores:"+d)
			}
			x.replyValue(map[string]any{"ietf-restconf:ds": list})
		}
	default:
		x.fail(&statusError{fault.New(fault.NotFound, "there is no datastore %.60q: ietf-datastores:running, :intended and :operational are served", name),
			http.StatusNotFound, "invalid-value"})
	}
}
