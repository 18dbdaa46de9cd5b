package restconf

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

// The media types of the text of modules (RFC 7950 section 14.1).
const (
	mediaYANG = "application/yang"
	mediaYIN  = "application/yin+xml"
)

// listModules are the modules that the server knows: those that are installed and served, those they
// import, and the server's own.
func (x *exchange) listModules() ([]*yang.Module, error) {
	own, err := ownSchema()
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "the server's own modules cannot be read")
	}
	now := x.installed()
	var list []*yang.Module
	seen := map[string]bool{}
	for _, m := range now.Schema.Modules() {
		if now.IsServed(m.Name) || !m.Implemented {
			list = append(list, m)
			seen[m.Name+"@"+m.Revision] = true
		}
	}
	for _, m := range own.Modules() {
		if !seen[m.Name+"@"+m.Revision] {
			list = append(list, m)
		}
	}
	slices.SortStableFunc(list, func(a, b *yang.Module) int {
		return strings.Compare(a.Name+"@"+a.Revision, b.Name+"@"+b.Revision)
	})
	return list, nil
}

// sourceOf is where the text of a module is served.
func sourceOf(m *yang.Module) string {
	s := rfc8040.root + "/modules/" + m.Name
	if m.Revision != "" {
		s += "?revision=" + m.Revision
	}
	return s
}

// listSubmodules lists the parts of a module, by the name that the library has for where their text is.
func listSubmodules(m *yang.Module, location string) (out []map[string]any) {
	for _, s := range m.Submodules {
		at := any(sourceOf(&yang.Module{
			Name:     s.Name,
			Revision: s.Revision,
		}))
		if location == "location" {
			at = []any{at}
		}
		out = append(out, map[string]any{
			"name":     s.Name,
			"revision": s.Revision,
			location:   at,
		})
	}
	return out
}

// modulesState is container modules-state of ietf-yang-library (RFC 7895).
func modulesState(list []*yang.Module) map[string]any {
	type module struct {
		Name        string   `json:"name"`
		Revision    string   `json:"revision"`
		Schema      string   `json:"schema"`
		Namespace   string   `json:"namespace"`
		Features    []string `json:"feature,omitempty"`
		Conformance string   `json:"conformance-type"`

		Submodules []map[string]any `json:"submodule,omitempty"`
	}
	out := []module{}
	for _, m := range list {
		c := "import"
		if m.Implemented {
			c = "implement"
		}
		out = append(
			out,
			module{m.Name, m.Revision, sourceOf(m), m.Namespace, m.Features, c, listSubmodules(m, "schema")},
		)
	}
	return map[string]any{
		"module-set-id": contentID(list),
		"module":        out,
	}
}

// yangLibrary is container yang-library of ietf-yang-library (RFC 8525): one schema, which all
// datastores have.
func yangLibrary(list []*yang.Module) map[string]any {
	type module struct {
		Name      string   `json:"name"`
		Revision  string   `json:"revision,omitempty"`
		Namespace string   `json:"namespace"`
		Location  []string `json:"location"`
		Features  []string `json:"feature,omitempty"`

		Submodules []map[string]any `json:"submodule,omitempty"`
	}
	type imported struct {
		Name      string   `json:"name"`
		Revision  string   `json:"revision"`
		Namespace string   `json:"namespace"`
		Location  []string `json:"location"`

		Submodules []map[string]any `json:"submodule,omitempty"`
	}
	implemented, imports := []module{}, []imported{}
	for _, m := range list {
		if m.Implemented {
			implemented = append(
				implemented,
				module{m.Name, m.Revision, m.Namespace, []string{sourceOf(m)}, m.Features, listSubmodules(m, "location")},
			)
		} else {
			imports = append(
				imports,
				imported{m.Name, m.Revision, m.Namespace, []string{sourceOf(m)}, listSubmodules(m, "location")},
			)
		}
	}
	stores := []any{}
	for _, d := range datastores {
		stores = append(
			stores,
			map[string]string{
				"name":   "ietf-datastores:" + d,
				"schema": "complete",
			},
		)
	}
	return map[string]any{
		"module-set": []any{map[string]any{
			"name":               "complete",
			"module":             implemented,
			"import-only-module": imports,
		}},
		"schema": []any{map[string]any{
			"name":       "complete",
			"module-set": []string{"complete"},
		}},
		"datastore": stores, "content-id": contentID(list),
	}
}

// contentID changes whenever a module or a YANG feature comes or goes.
func contentID(list []*yang.Module) string {
	var b strings.Builder
	for _, m := range list {
		b.WriteString(m.Name + "@" + m.Revision + " " + strings.Join(m.Features, ",") + "\n")
	}
	return contentDigest(b.String())
}

// serveSource answers …/modules/NAME?revision=R, the text of a module as YANG or YIN.
func (x *exchange) serveSource() error {
	name := x.shiftSegment()
	if len(x.path) > 0 {
		return x.notFound()
	}
	if err := x.checkMethod(allowState); err != nil {
		return err
	}
	query, err := url.ParseQuery(x.r.URL.RawQuery)
	if err != nil {
		return fault.New(fault.Invalid, "the query cannot be read: %v", err)
	}
	list, err := x.listModules()
	if err != nil {
		return err
	}
	var m *yang.Module
	for _, l := range list { // sorted by revision: the newest counts where none is asked for
		r := query.Get("revision")
		if l.Name == name && (r == "" || r == l.Revision) {
			m = l
		}
	}
	if m == nil {
		m = submoduleOf(list, name, query.Get("revision"))
	}
	if m == nil {
		return fault.New(
			fault.NotFound,
			"there is no module %.60q of revision %.20q",
			name,
			query.Get("revision"),
		)
	}
	text := []byte(m.Text)
	media := x.sourceType()
	switch media {
	case mediaYIN:
		if m.Namespace == "" {
			return &statusError{fault.New(
				fault.Invalid,
				"submodules are served as %s",
				mediaYANG,
			), http.StatusNotAcceptable, "invalid-value"}
		}
		set := x.installed().Schema
		if set.Revision(m.Name, m.Revision) == nil {
			set, err = ownSchema()
		}
		if err == nil {
			text, err = set.YIN(m)
		}
	case "":
		err = &statusError{fault.New(
			fault.Invalid,
			"modules are served as %s and %s",
			mediaYANG,
			mediaYIN,
		), http.StatusNotAcceptable, "invalid-value"}
	}
	if err != nil {
		return err
	}
	x.w.Header().Set("Content-Type", media)
	x.w.WriteHeader(http.StatusOK)
	x.writeBody(text)
	return nil
}

// sourceType is the form of a module that the client likes best, empty if it takes none.
func (x *exchange) sourceType() string {
	values := x.r.Header["Accept"]
	if len(values) == 0 {
		return mediaYANG
	}
	media, _ := preferredMedia(parseAccept(values), func(t string) (string, bool) {
		switch t {
		case mediaYANG, "*/*", "application/*", "text/*", "text/plain":
			return mediaYANG, true
		}
		return t, t == mediaYIN
	})
	return media
}

// submoduleOf is the text of a submodule, as a module without a namespace; nil if there is none.
func submoduleOf(list []*yang.Module, name, revision string) *yang.Module {
	for _, m := range list {
		for _, s := range m.Submodules {
			if s.Name == name && (revision == "" || revision == s.Revision) {
				return &yang.Module{
					Name:     s.Name,
					Revision: s.Revision,
					Text:     s.Text,
				}
			}
		}
	}
	return nil
}
