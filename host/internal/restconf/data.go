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

// allowedMethods says which methods a resource takes.
func (x *exchange) allowedMethods(kind string, p tree.Path) string {
	n := p.Node()
	switch {
	case kind == "operational" || x.ds == "operational" || x.ds == "intended" || n != nil && !n.Config:
		return allowState
	case n == nil:
		return allowStore
	case n.IsLeaf() || n.IsList() && !p.Entry():
		return allowValue
	}
	return allowData
}

// serveData serves the trees: /rests/data, /restconf/config and /restconf/operational.
func (x *exchange) serveData(kind string) error {
	p, err := x.parseTarget()
	if err != nil {
		if at, action := x.action(kind); action != nil {
			return x.invokeAction(at, action)
		}
		return err
	}
	if err := x.checkMethod(x.allowedMethods(kind, p)); err != nil {
		return err
	}
	switch x.r.Method {
	case http.MethodPut:
		return x.putData(p)
	case http.MethodPost:
		return x.postData(p)
	case http.MethodPatch:
		return x.patchData(p)
	case http.MethodDelete:
		return x.deleteData(p)
	}
	return x.getData(kind, p)
}

// parseTarget reads the rest of the path. A node that the schema does not have is 400
// (RFC 8040 section 7), as opposed to data that is not there.
func (x *exchange) parseTarget() (tree.Path, error) {
	now := x.installed()
	set, module := now.Schema, now.Aliases.Module
	if x.own = len(x.path) > 0 && ownTops[x.path[0].Decoded] && x.ds != "running" && x.ds != "intended"; x.own {
		var err error
		if set, err = ownSchema(); err != nil {
			return nil, fault.Wrap(fault.Internal, err, "the server's own modules cannot be read")
		}
	}
	p, err := tree.Parse(set, x.path, module)
	if err == nil && len(p) > 0 && !x.own && !now.IsServed(p[0].Node.Module) {
		err = fault.New(fault.Unknown, "there is no node %q", p[0].Node.QName())
	}
	return p, err
}

// missingDataError answers that there is nothing at a path.
func missingDataError(p tree.Path) error {
	return fault.At(fault.NotFound, p.String(), "there is no such data")
}

// absentTarget gives the error of deleting what is not there its status (RFC 8040 section 7).
func absentTarget(err error) error {
	f := fault.All(err)
	if err != nil && f[0].Kind == fault.NotFound {
		return &statusError{f[0], http.StatusConflict, "data-missing"}
	}
	return err
}

// datastores are those of NMDA (RFC 8342) that are served.
var datastores = [...]string{"intended", "operational", "running"}

// serveDatastore serves {+restconf}/ds/ietf-datastores:NAME (RFC 8527). Running and intended are the
// configuration, which nothing transforms on its way; what is observed is operational.
func (x *exchange) serveDatastore() error {
	if x.env != rfc8040 {
		return x.notFound()
	}
	name := x.shiftSegment()
	short, ok := strings.CutPrefix(name, "ietf-datastores:")
	switch {
	case ok && slices.Contains(datastores[:], short):
		x.ds = short
		kind := short
		if short == "operational" {
			kind = "data"
		}
		return x.serveData(kind)
	case name == "":
		return x.serveReadOnly(func() error {
			list := []string{}
			for _, d := range datastores {
				list = append(list, "ietf-datastores:"+d)
			}
			return x.replyValue(map[string]any{"ietf-restconf:ds": list})
		})
	}
	return fault.New(
		fault.NotFound,
		"there is no datastore %.60q: ietf-datastores:running, :intended and :operational are served",
		name,
	)
}
