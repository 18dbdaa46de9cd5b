package device

import (
	"context"

	"ctl.internal/internal/netconf"
	"ctl.internal/internal/netconf/xmltree"
	"ctl.internal/plugins/bier-driver-ietf/dialect"
)

const (
	nsLibrary  = "urn:ietf:params:xml:ns:yang:ietf-yang-library"
	library10  = "urn:ietf:params:netconf:capability:yang-library:1.0"
	library11  = "urn:ietf:params:netconf:capability:yang-library:1.1"
	maxModules = 20_000
)

// choose finds the dialect. Routers with modules of YANG 1.1 do not name them in the
// hello but in the YANG library (RFC 7950 section 5.6.4), which is asked then.
func (l *link) choose(ctx context.Context) (*dialect.Dialect, error) {
	_, announced := l.caps.Module("ietf-bier")
	if !announced && (l.caps.Has(library10) || l.caps.Has(library11)) {
		if err := l.library(ctx); err != nil {
			return nil, err
		}
	}
	return dialect.For(l.caps, l.router.Dialect)
}

// library adds the modules of the YANG library, of RFC 7895 and of RFC 8525, to the
// capabilities, in the form of a hello.
func (l *link) library(ctx context.Context) error {
	ask := netconf.GetOp(xmltree.New(nsLibrary, "modules-state"), xmltree.New(nsLibrary, "yang-library"))
	data, err := l.one(ctx, ask).Data(ask)
	if err != nil {
		return err
	}
	sets := data.All(nsLibrary, "modules-state")
	for _, y := range data.All(nsLibrary, "yang-library") {
		sets = append(sets, y.All(nsLibrary, "module-set")...)
	}
	for _, set := range sets {
		for _, m := range set.All(nsLibrary, "module") {
			if len(l.caps) < maxModules {
				l.caps = append(l.caps, m.Value("namespace")+"?module="+m.Value("name")+"&revision="+m.Value("revision"))
			}
		}
	}
	return nil
}
