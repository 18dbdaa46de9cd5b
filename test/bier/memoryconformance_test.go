package bier

import (
	"testing"

	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/bierdriver/conformance"
)

func TestMemoryDriverConformance(t *testing.T) {
	conformance.Run(t, func(*testing.T) conformance.Peer {
		l := newMemoryRouters()
		return conformance.Peer{Driver: l, Router: &bierdriver.Router{NodeId: "r", Host: "memory"},
			Up:     func(up bool) { l.Up("r", up) },
			Change: func() { l.Touch("r", "somebody", func(c *bierdriver.Config) { c.Global, c.Channels = nil, nil }) }}
	})
}
