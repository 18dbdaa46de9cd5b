package restconf

import (
	"net/http"
	"slices"
	"strings"

	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/sdk/fault"
)

const (
	allowState = "GET, HEAD, OPTIONS"
	allowStore = allowState + ", PUT, POST, PATCH"   // the datastore itself
	allowValue = allowState + ", PUT, PATCH, DELETE" // what has no members
	allowData  = allowState + ", PUT, POST, PATCH, DELETE"
)

// allowed says which methods a configuration resource takes, and whether these are
// POST and DELETE.
func allowed(p tree.Path) (allow string, post, remove bool) {
	n := p.Node()
	switch {
	case n == nil:
		return allowStore, true, false
	case n.IsLeaf() || n.IsList() && !p.Entry():
		return allowValue, false, true
	}
	return allowData, true, true
}

// data serves the trees: /rests/data, /restconf/config and /restconf/operational.
func (x *exchange) data(kind string) {
	if x.own() {
		return
	}
	p, err := x.target()
	if err != nil {
		x.fail(err)
		return
	}
	if kind == "operational" || x.ds == "operational" || x.ds == "intended" || len(p) > 0 && !p.Node().Config {
		if x.methods(allowState, http.MethodGet) {
			x.get(kind, p)
		}
		return
	}
	have := []string{http.MethodGet, http.MethodPut, http.MethodPatch}
	allow, post, remove := allowed(p)
	if post {
		have = append(have, http.MethodPost)
	}
	if remove {
		have = append(have, http.MethodDelete)
	}
	if !x.methods(allow, have...) {
		return
	}
	switch x.r.Method {
	case http.MethodPut:
		x.put(p)
	case http.MethodPost:
		x.post(p)
	case http.MethodPatch:
		x.patch(p)
	case http.MethodDelete:
		x.delete(p)
	default:
		x.get(kind, p)
	}
}

// target reads the rest of the path. A node that the schema does not have is 400
// (RFC 8040 section 7), as opposed to data that is not there.
func (x *exchange) target() (tree.Path, error) {
	now := x.installed()
	p, err := tree.Parse(now.Schema, x.path, now.Aliases.Module)
	if err == nil && len(p) > 0 && !now.served(p[0].Node.Module) {
		err = fault.New(fault.Unknown, "there is no node %q", p[0].Node.QName())
	}
	return p, absent(err)
}

// absent gives an error about a node that the schema does not have its status.
func absent(err error) error {
	if f := fault.All(err); err != nil && f[0].Kind == fault.Unknown {
		return &statusError{f[0], http.StatusBadRequest, "unknown-element"}
	}
	return err
}

// missing answers that there is nothing at a path.
func missing(p tree.Path) error {
	return fault.At(fault.NotFound, p.String(), "there is no such data")
}

// absentTarget gives the error of deleting what is not there its status (RFC 8040 section 7).
func absentTarget(err error) error {
	if f := fault.All(err); err != nil && f[0].Kind == fault.NotFound {
		return &statusError{f[0], http.StatusConflict, "data-missing"}
	}
	return err
}

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
