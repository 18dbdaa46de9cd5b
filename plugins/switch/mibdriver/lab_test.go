package mibdriver_test

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"ctl.internal/internal/lab/network"
	"ctl.internal/plugins/switch/mibdriver"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/plugins/switch/switchlist"
	"ctl.internal/sdk/switchdriver"
)

// bench is a simulated network and a driver for it.
type bench struct {
	*network.Network
	driver   *mibdriver.Driver
	client   *snmp.Client
	switches []*switchdriver.Switch
}

func newLab(t testing.TB, o network.Options) *bench {
	t.Helper()
	n, err := network.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	entries, problems := switchlist.Parse("lab.csv", n.CSV())
	for _, p := range problems {
		t.Fatal(p)
	}
	c := snmp.NewClient(snmp.Options{Timeout: 10 * time.Second, Retries: 1})
	t.Cleanup(c.Close)
	b := &bench{Network: n, driver: mibdriver.New(c), client: c}
	for _, e := range entries {
		b.switches = append(b.switches, e.Switch())
	}
	return b
}

// hasty is a driver that soon gives up, for switches that do not answer. An answer that
// is wanted may take longer on a busy machine.
func hasty(t testing.TB) *mibdriver.Driver {
	t.Helper()
	c := snmp.NewClient(snmp.Options{Timeout: 300 * time.Millisecond, Retries: 1})
	t.Cleanup(c.Close)
	return mibdriver.New(c)
}

func deadline(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func loopback(port uint16) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port)
}
