package conformance

import "ctl.internal/sdk/bierdriver"

// Configs are configurations that differ in every part of the model.
func Configs() []*bierdriver.Config {
	global := func(id uint32, subs ...*bierdriver.SubDomain) *bierdriver.Global {
		return &bierdriver.Global{EncapsulationType: "bier-encapsulation-mpls", Bitstringlength: 256, BfrId: id,
			Ipv4BfrPrefix: "192.0.2.1/32", Ipv6BfrPrefix: "2001:db8::1/128", SubDomains: subs}
	}
	range4 := func(bsl, base, size uint32) *bierdriver.Encapsulation {
		return &bierdriver.Encapsulation{Bitstringlength: bsl, BierMplsLabelBase: base, BierMplsLabelRangeSize: size}
	}
	zero := &bierdriver.SubDomain{SubDomainId: 0, IgpType: "ISIS", MtId: 0, Ipv4: []*bierdriver.Encapsulation{range4(256, 100, 4)}}
	one := &bierdriver.SubDomain{SubDomainId: 1, IgpType: "OSPF", MtId: 2, BfrId: 77, Bitstringlength: 64,
		Ipv4: []*bierdriver.Encapsulation{range4(64, 200, 8), range4(256, 300, 2)}, Ipv6: []*bierdriver.Encapsulation{range4(64, 400, 8)}}
	changed := &bierdriver.SubDomain{SubDomainId: 1, IgpType: "OSPF", MtId: 2, BfrId: 78, Bitstringlength: 128,
		Ipv4: []*bierdriver.Encapsulation{range4(64, 200, 16), range4(128, 500, 4)}}
	ingress := &bierdriver.Channel{SourceAddress: "10.0.0.1", SourceWildcard: 32, GroupAddress: "232.1.1.1", GroupWildcard: 32,
		SubDomain: 1, IngressBfrId: 77, EgressBfrIds: []uint32{2, 3}, Role: bierdriver.Ingress}
	more := &bierdriver.Channel{SourceAddress: "10.0.0.1", SourceWildcard: 32, GroupAddress: "232.1.1.1", GroupWildcard: 32,
		SubDomain: 1, IngressBfrId: 77, EgressBfrIds: []uint32{3, 4, 65535}, Role: bierdriver.Ingress}
	egress := &bierdriver.Channel{SourceAddress: "10.9.0.0", SourceWildcard: 24, GroupAddress: "233.0.0.0", GroupWildcard: 8,
		SubDomain: 0, IngressBfrId: 9, EgressBfrIds: []uint32{77}, Role: bierdriver.Egress}
	return []*bierdriver.Config{
		{Global: global(1, zero)},
		{Global: global(1, zero, one), Channels: []*bierdriver.Channel{ingress}},
		{Global: global(1, zero, one), Channels: []*bierdriver.Channel{more, egress}},
		{Global: global(2, changed), Channels: []*bierdriver.Channel{egress}},
		{},
		{Global: global(2, zero, changed)},
	}
}
