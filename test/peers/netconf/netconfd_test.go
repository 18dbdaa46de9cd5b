//go:build peers

package netconfpeers

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"ctl.internal/internal/netconf"
	"ctl.internal/plugins/bier-driver-ietf/device"
	"ctl.internal/sdk/bierdriver"
)

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// ring is a configuration with everything in it.
func ring() *bierdriver.Config {
	return &bierdriver.Config{
		Global: &bierdriver.Global{EncapsulationType: "bier-encapsulation-mpls", Bitstringlength: 256, BfrId: 3, Ipv4BfrPrefix: "192.0.2.3/32", Ipv6BfrPrefix: "2001:db8::3/128",
			SubDomains: []*bierdriver.SubDomain{
				{SubDomainId: 0, IgpType: "ISIS", Ipv4: []*bierdriver.Encapsulation{{Bitstringlength: 256, BierMplsLabelBase: 1000, BierMplsLabelRangeSize: 4}},
					Ipv6: []*bierdriver.Encapsulation{{Bitstringlength: 64, BierMplsLabelBase: 2000, BierMplsLabelRangeSize: 16}}},
				{SubDomainId: 5, IgpType: "OSPF", MtId: 2, BfrId: 77, Bitstringlength: 64},
			}},
		Channels: []*bierdriver.Channel{
			{SourceAddress: "10.1.1.1", SourceWildcard: 32, GroupAddress: "232.0.0.1", GroupWildcard: 32, IngressBfrId: 3, EgressBfrIds: []uint32{1, 2}},
			{SourceAddress: "2001:db8::1", SourceWildcard: 128, GroupAddress: "ff3e::1", GroupWildcard: 128, SubDomain: 5, IngressBfrId: 9, EgressBfrIds: []uint32{77}},
		},
	}
}

func TestNetconfd(t *testing.T) { drives(t, netconfd(t)) }

// drives takes a server through the life of a configuration.
func drives(t *testing.T, to netconf.Target) {
	d := device.New(device.Defaults(), slog.New(slog.NewTextHandler(io.Discard, nil)))
	r := &bierdriver.Router{NodeId: "1", Host: to.Host, Port: uint32(to.Port), User: to.User, Password: to.Password, PrivateKey: string(to.PrivateKey)}
	p, err := d.Probe(within(t, time.Minute), r)
	if err != nil || !p.Supported || p.Session.Dialect != "ietf-bier-2016-07-23" {
		t.Fatalf("probe: %v, %v", p, err)
	}
	r.HostKey = p.Session.HostKey
	t.Logf("candidate %v, confirmed commit %v, rollback %v, notifications %v, base:1.1 %v", has(p, netconf.Candidate), has(p, netconf.ConfirmedCommit),
		has(p, netconf.RollbackOnError), has(p, netconf.Notifications), has(p, netconf.Base11))
	apply := func(c *bierdriver.Config, want bierdriver.Outcome) *bierdriver.Result {
		t.Helper()
		start := time.Now()
		a, err := d.Apply(within(t, time.Minute), r, c, bierdriver.Always)
		if err != nil || a.State != want {
			t.Fatalf("apply: %v, %v", a, err)
		}
		t.Logf("%d edits, %d messages, %v", len(a.Edits), a.Messages, time.Since(start).Round(time.Millisecond))
		o, err := d.Read(within(t, time.Minute), r)
		if err != nil || want == bierdriver.Applied && !proto.Equal(o.Config, c) {
			t.Fatalf("read: %v, %v", o, err)
		}
		return a
	}
	apply(ring(), bierdriver.Applied)
	if a := apply(ring(), bierdriver.Applied); len(a.Edits) > 0 {
		t.Errorf("the same again: %q", a.Edits)
	}
	c := ring()
	c.Channels[0].EgressBfrIds = []uint32{2, 8}
	c.Global.SubDomains = c.Global.SubDomains[:1]
	c.Global.BfrId, c.Global.Ipv6BfrPrefix = 4, ""
	apply(c, bierdriver.Applied)
	bad := ring()
	bad.Global.Ipv4BfrPrefix = "2001:db8::3/128"
	if a := apply(bad, bierdriver.Failed); a.Reason == "" {
		t.Errorf("a wrong prefix: %v", a)
	}
	apply(c, bierdriver.Applied)
	apply(&bierdriver.Config{}, bierdriver.Applied)
	many := ring()
	many.Channels = many.Channels[:1]
	many.Channels[0].EgressBfrIds = nil
	for id := range uint32(1000) {
		many.Channels[0].EgressBfrIds = append(many.Channels[0].EgressBfrIds, id+1)
	}
	apply(many, bierdriver.Applied)
}

func has(p *bierdriver.Probe, capability string) bool {
	return netconf.Capabilities(p.Session.Capabilities).Has(capability)
}
