package device

import (
	"testing"

	"ctl.internal/internal/netconf"
	"ctl.internal/internal/netconf/xmltree"
	"ctl.internal/sdk/bierdriver/conformance"
)

func TestConformance(t *testing.T) {
	for name, o := range kinds() {
		t.Run(name, func(t *testing.T) {
			conformance.Run(t, func(t *testing.T) conformance.Peer {
				sim, r := start(t, o)
				s := quick()
				return conformance.Peer{Driver: newDriver(s), Router: r,
					Up: func(up bool) {
						if !up {
							sim.Down()
						} else if err := sim.Up(""); err != nil {
							t.Error(err)
						}
					},
					Change: func() {
						all := xmltree.New("", "")
						for _, n := range sim.Config().Kids {
							all.Add(xmltree.New(n.Space, n.Name).With(netconf.NS, "operation", "remove"))
						}
						if err := sim.Change(all); err != nil {
							t.Error(err)
						}
					}}
			})
		})
	}
}
