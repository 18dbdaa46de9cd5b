package netconf_test

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ctl.internal/internal/lab/simrouter"
	"ctl.internal/internal/netconf"
	"ctl.internal/internal/netconf/xmltree"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start is a router that ends with the test.
func start(t *testing.T, o simrouter.Options) *simrouter.Router {
	t.Helper()
	r, err := simrouter.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Down)
	return r
}

func target(r *simrouter.Router) netconf.Target {
	return netconf.Target{Host: r.Host(), Port: r.Port(), User: "lab", Password: "lab", HostKey: r.HostKey()}
}

// within is generous: it bounds what must not hang, nothing waits for it.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

func dial(t *testing.T, r *simrouter.Router) *netconf.Session {
	t.Helper()
	s, err := netconf.Dial(within(t, time.Minute), target(r))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(within(t, time.Minute)) })
	return s
}

// bfr is an edit of one leaf.
func bfr(id string) *xmltree.Node {
	b := simrouter.NSBier
	return xmltree.New(simrouter.NSRoutingEx, "routing", xmltree.New(b, "bier", xmltree.New(b, "bier-global", xmltree.Leaf(b, "bfr-id", id))))
}

func edit(ds netconf.Datastore, config ...*xmltree.Node) netconf.Operation {
	return netconf.Edit{Target: ds, Config: config}.Operation()
}

func held(n *xmltree.Node) string {
	return n.Kid(simrouter.NSRoutingEx, "routing").Kid(simrouter.NSBier, "bier").Down("bier-global", "bfr-id").Trimmed()
}

// validate is an operation that the drivers do not need (RFC 6241 section 8.6).
func validate(ds netconf.Datastore) netconf.Operation {
	return netconf.Operation{Element: xmltree.New(netconf.NS, "validate", xmltree.New(netconf.NS, "source", xmltree.New(netconf.NS, string(ds))))}
}
