package netconf

import (
	"net/url"
	"strings"
)

// Capabilities are what a server announced in its hello, as it wrote them.
type Capabilities []string

// Has reports whether the capability uri was announced, with or without parameters.
func (c Capabilities) Has(uri string) bool {
	for _, have := range c {
		if base, _, _ := strings.Cut(have, "?"); base == uri {
			return true
		}
	}
	return false
}

// Module is a YANG module that was announced (RFC 6020 section 5.6.4).
type Module struct {
	Namespace, Name, Revision string
}

// Module finds a module by its name; ok is false if it was not announced.
func (c Capabilities) Module(name string) (m Module, ok bool) {
	for _, have := range c {
		base, query, _ := strings.Cut(have, "?")
		if !strings.Contains(query, "module=") {
			continue
		}
		v, err := url.ParseQuery(strings.ReplaceAll(query, "&amp;", "&"))
		if err == nil && v.Get("module") == name {
			return Module{base, name, v.Get("revision")}, true
		}
	}
	return Module{}, false
}
