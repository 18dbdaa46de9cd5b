// Package conformance is what every driver of BIER routers must pass. A driver's
// tests call Run with a router of its kind, simulated or real.
package conformance

import (
	"context"
	"errors"
	"math/rand"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/fault"
)

// Peer is a driver with a router that it can drive and that holds nothing.
type Peer struct {
	Driver bierdriver.Driver
	Router *bierdriver.Router
	// Up makes the router answer or not; nil = it always does.
	Up func(up bool)
	// Change has somebody else take all BIER configuration from the router; nil =
	// that cannot be done.
	Change func()
	// Deadline of one call; 10 s when zero.
	Deadline time.Duration
	// Configs are what is applied; nil = Configs of this package.
	Configs []*bierdriver.Config
}

// Run checks a driver; peer makes a new Peer for each check.
func Run(t *testing.T, peer func(t *testing.T) Peer) {
	for name, check := range map[string]func(*testing.T, Peer){
		"says what it is for":                   checkDescription,
		"applies and reads back":                checkConfigsApplied,
		"applying again sends nothing":          checkIdempotence,
		"a try changes nothing":                 checkDryRun,
		"gets from any configuration to any":    checkRandomSequence,
		"a router that does not answer":         checkSilentRouter,
		"reports the session":                   checkWatches,
		"reports changes by others":             checkDriftReport,
		"a call that is cancelled ends in time": checkCancelledCalls,
	} {
		t.Run(name, func(t *testing.T) {
			p := peer(t)
			if p.Deadline == 0 {
				p.Deadline = 10 * time.Second
			}
			if p.Configs == nil {
				p.Configs = Configs()
			}
			check(t, p)
		})
	}
}

func (p Peer) callContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), p.Deadline)
	t.Cleanup(cancel)
	return ctx
}

// applyConfig applies and fails the test unless the router holds the configuration.
func (p Peer) applyConfig(t *testing.T, c *bierdriver.Config) *bierdriver.Result {
	t.Helper()
	res, err := p.Driver.Apply(p.callContext(t), p.Router, proto.CloneOf(c), bierdriver.Always)
	if err != nil || res.State != bierdriver.Applied {
		t.Fatalf("apply: %v, %v", res, err)
	}
	p.checkHolds(t, c)
	return res
}

func (p Peer) checkHolds(t *testing.T, c *bierdriver.Config) {
	t.Helper()
	o, err := p.Driver.Read(p.callContext(t), p.Router)
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	got, want := proto.CloneOf(o.Config), proto.CloneOf(c)
	for _, c := range []*bierdriver.Config{got, want} {
		bierdriver.Canonical(c)
		c.Members = nil // no router holds them, nor the roles
		for _, x := range c.Channels {
			x.Role = 0
		}
	}
	if !proto.Equal(got, want) {
		t.Fatalf("the router holds\n%v\nwant\n%v", got, want)
	}
}

func checkDescription(t *testing.T, p Peer) {
	d := p.Driver.Describe()
	if len(d.Dialects) == 0 {
		t.Error("a driver names at least one dialect")
	}
	if !d.Probes {
		return
	}
	r, err := p.Driver.Probe(p.callContext(t), p.Router)
	if err != nil || !r.Supported || !r.Reached {
		t.Errorf("probe: %v, %v", r, err)
	}
}

func checkConfigsApplied(t *testing.T, p Peer) {
	for _, c := range p.Configs {
		p.applyConfig(t, c)
	}
	p.applyConfig(t, &bierdriver.Config{})
}

func checkIdempotence(t *testing.T, p Peer) {
	for _, c := range p.Configs {
		p.applyConfig(t, c)
		if res := p.applyConfig(t, c); len(res.Edits) > 0 {
			t.Errorf("applying the same again sent %v", res.Edits)
		}
	}
}

func checkDryRun(t *testing.T, p Peer) {
	p.applyConfig(t, p.Configs[0])
	last := p.Configs[len(p.Configs)-1]
	res, err := p.Driver.Apply(p.callContext(t), p.Router, proto.CloneOf(last), nil)
	if err != nil || len(res.Edits) == 0 {
		t.Fatalf("a try reports what it would send: %v, %v", res, err)
	}
	p.checkHolds(t, p.Configs[0])
}

func checkRandomSequence(t *testing.T, p Peer) {
	r := rand.New(rand.NewSource(1))
	for range 3 * len(p.Configs) {
		p.applyConfig(t, p.Configs[r.Intn(len(p.Configs))])
	}
}

func checkSilentRouter(t *testing.T, p Peer) {
	if p.Up == nil {
		t.Skip("SKIPPED, NOT TESTED: a router that falls silent: the peer's router always answers")
	}
	p.applyConfig(t, p.Configs[0])
	p.Up(false)
	res, err := p.Driver.Apply(
		p.callContext(t),
		p.Router,
		proto.CloneOf(p.Configs[1]),
		bierdriver.Always,
	)
	if err != nil || res.State != bierdriver.Pending || res.Reason == "" {
		t.Errorf("apply: %v, %v; want pending with a reason", res, err)
	}
	if _, err := p.Driver.Read(p.callContext(t), p.Router); !errors.Is(err, &fault.Error{Kind: fault.Unavailable}) &&
		!errors.Is(err, &fault.Error{Kind: fault.Timeout}) {
		t.Errorf("read: %v; want a fault of kind unavailable or timeout", err)
	}
	p.Up(true)
	p.checkHolds(t, p.Configs[0])
	p.applyConfig(t, p.Configs[1])
}

// Configs are configurations that differ in every part of the model.
func Configs() []*bierdriver.Config {
	global := func(id uint32, subs ...*bierdriver.SubDomain) *bierdriver.Global {
		return &bierdriver.Global{
			EncapsulationType: "bier-encapsulation-mpls",
			Bitstringlength:   256,
			BfrId:             id,
			Ipv4BfrPrefix:     "192.0.2.1/32",
			Ipv6BfrPrefix:     "2001:db8::1/128",
			SubDomains:        subs,
		}
	}
	range4 := func(bsl, base, size uint32) *bierdriver.Encapsulation {
		return &bierdriver.Encapsulation{
			Bitstringlength:        bsl,
			BierMplsLabelBase:      base,
			BierMplsLabelRangeSize: size,
		}
	}
	zero := &bierdriver.SubDomain{
		SubDomainId: 0,
		IgpType:     "ISIS",
		MtId:        0,
		Ipv4:        []*bierdriver.Encapsulation{range4(256, 100, 4)},
	}
	one := &bierdriver.SubDomain{
		SubDomainId:     1,
		IgpType:         "OSPF",
		MtId:            2,
		BfrId:           77,
		Bitstringlength: 64,
		Ipv4:            []*bierdriver.Encapsulation{range4(64, 200, 8), range4(256, 300, 2)},
		Ipv6:            []*bierdriver.Encapsulation{range4(64, 400, 8)},
	}
	changed := &bierdriver.SubDomain{
		SubDomainId:     1,
		IgpType:         "OSPF",
		MtId:            2,
		BfrId:           78,
		Bitstringlength: 128,
		Ipv4:            []*bierdriver.Encapsulation{range4(64, 200, 16), range4(128, 500, 4)},
	}
	ingress := &bierdriver.Channel{
		SourceAddress:  "10.0.0.1",
		SourceWildcard: 32,
		GroupAddress:   "232.1.1.1",
		GroupWildcard:  32,
		SubDomain:      1,
		IngressBfrId:   77,
		EgressBfrIds:   []uint32{2, 3},
		Role:           bierdriver.Ingress,
	}
	more := &bierdriver.Channel{
		SourceAddress:  "10.0.0.1",
		SourceWildcard: 32,
		GroupAddress:   "232.1.1.1",
		GroupWildcard:  32,
		SubDomain:      1,
		IngressBfrId:   77,
		EgressBfrIds:   []uint32{3, 4, 65535},
		Role:           bierdriver.Ingress,
	}
	egress := &bierdriver.Channel{
		SourceAddress:  "10.9.0.0",
		SourceWildcard: 24,
		GroupAddress:   "233.0.0.0",
		GroupWildcard:  8,
		SubDomain:      0,
		IngressBfrId:   9,
		EgressBfrIds:   []uint32{77},
		Role:           bierdriver.Egress,
	}
	return []*bierdriver.Config{
		{Global: global(1, zero)},
		{
			Global:   global(1, zero, one),
			Channels: []*bierdriver.Channel{ingress},
		},
		{
			Global:   global(1, zero, one),
			Channels: []*bierdriver.Channel{more, egress},
		},
		{
			Global:   global(2, changed),
			Channels: []*bierdriver.Channel{egress},
		},
		{},
		{Global: global(2, zero, changed)},
	}
}
