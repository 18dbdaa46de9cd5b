package simbierdriver_test

import (
	"testing"

	"go.uber.org/goleak"

	"ctl.internal/internal/lab/simbierdriver"
	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/bierdriver/conformance"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	conformance.Run(t, func(*testing.T) conformance.Peer {
		l := simbierdriver.New()
		return conformance.Peer{Driver: l, Router: &bierdriver.Router{NodeId: "r", Host: "memory"},
			Up:     func(up bool) { l.Up("r", up) },
			Change: func() { l.Touch("r", "somebody", func(c *bierdriver.Config) { c.Global, c.Channels = nil, nil }) }}
	})
}
