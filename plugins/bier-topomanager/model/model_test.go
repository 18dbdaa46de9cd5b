package model

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"ctl.internal/internal/bier"
	"ctl.internal/sdk/topology"
)

func id[T any](v T) *T { return &v }

// part is a node's part in sub-domain 0 of domain 1.
func part(bfr uint16) []bier.NodeDomain {
	return []bier.NodeDomain{{ID: 1, Global: bier.Global{BSL: 256, BFRID: &bfr, IPv4Prefix: fmt.Sprintf("10.0.0.%d/32", bfr), SubDomains: []bier.SubDomain{{ID: 0, IGP: "ISIS"}}}}}
}

// lab has nodes a and b in sub-domain 0 of domain 1, c in none, and an empty sub-domain 2.
func lab() *bier.Topology {
	return &bier.Topology{ID: "lab", Nodes: []bier.Node{{ID: "a", Params: bier.NodeParams{Domains: part(1)}}, {ID: "b", Params: bier.NodeParams{Domains: part(2)}}, {ID: "c"}},
		Domains: []bier.Domain{{ID: 1, SubDomains: []bier.SubDomainRef{{ID: 0}, {ID: 2}}}}}
}

var deployed = []bier.Channel{{Name: "tv", DomainID: 1, IngressNode: "a", EgressNodes: []bier.EgressNode{{ID: "b"}}}, {Name: "idle", DomainID: 1, SubDomainID: 2}}

func TestWhatCallsRefuse(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(*bier.Topology) (*Change, error)
		want string // "" = it is done
	}{
		"a domain that is there":       {func(t *bier.Topology) (*Change, error) { return ConfigureDomain(t, []uint16{2, 1}) }, "domain 1 exists already"},
		"a domain twice":               {func(t *bier.Topology) (*Change, error) { return ConfigureDomain(t, []uint16{2, 2}) }, "domain 2 exists already"},
		"a new domain":                 {func(t *bier.Topology) (*Change, error) { return ConfigureDomain(t, []uint16{2}) }, ""},
		"sub-domain 256":               {func(t *bier.Topology) (*Change, error) { return ConfigureSubDomain(t, id[uint16](1), []uint16{256}) }, "not within 0..255"},
		"sub-domain 0 with members":    {func(t *bier.Topology) (*Change, error) { return ConfigureSubDomain(t, id[uint16](1), []uint16{0}) }, "exists already"},
		"the bfr-id of another":        {func(t *bier.Topology) (*Change, error) { return ConfigureNode(t, "c", part(2)) }, "is node b's"},
		"a node of its own":            {func(t *bier.Topology) (*Change, error) { return ConfigureNode(t, "c", part(3)) }, ""},
		"a node that is not there":     {func(t *bier.Topology) (*Change, error) { return ConfigureNode(t, "z", part(3)) }, "there is no node z"},
		"a domain that a channel uses": {func(t *bier.Topology) (*Change, error) { return DeleteDomain(t, id[uint16](1), deployed) }, "channel tv"},
		"a node that a channel uses": {func(t *bier.Topology) (*Change, error) {
			return DeleteNode(t, "b", id[uint16](1), id[uint16](0), deployed)
		}, "egress of the deployed channel tv"},
		"a node that none uses":          {func(t *bier.Topology) (*Change, error) { return DeleteNode(t, "b", id[uint16](1), id[uint16](0), nil) }, ""},
		"sub-domain 0 before the others": {func(t *bier.Topology) (*Change, error) { return DeleteSubDomain(t, id[uint16](1), id[uint16](0), nil) }, "stays while there are others"},
		"a sub-domain that only waits": {func(t *bier.Topology) (*Change, error) {
			return DeleteSubDomain(t, id[uint16](1), id[uint16](2), deployed)
		}, ""},
		"a label range that is not there": {func(t *bier.Topology) (*Change, error) {
			return DeleteEncapsulation(t, "a", id[uint16](1), id[uint16](0), false, &bier.Encapsulation{BSL: 64})
		}, "has no ipv4 entry"},
		"the last label range": {func(t *bier.Topology) (*Change, error) {
			t.Nodes[2] = *router("c", 3)
			af := &t.Nodes[2].Params.Domains[0].Global.SubDomains[0].AF
			af.IPv4 = af.IPv4[:1]
			c, err := DeleteEncapsulation(t, "c", id[uint16](1), id[uint16](1), false, &bier.Encapsulation{BSL: 64, Base: 1000})
			t.Nodes[2] = bier.Node{ID: "c"}
			return c, err
		}, "needs label ranges; delete-node"},
	} {
		before := lab()
		change, err := c.do(before)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if !reflect.DeepEqual(before, lab()) {
			t.Errorf("%s: the topology itself was changed: %+v", name, change)
		}
	}
}

// Whoever writes the tree meets the same rules; what was wrong before may stay so.
func TestCheckOfTheTree(t *testing.T) {
	wrong := lab()
	wrong.Nodes[1].Params.Domains[0].Global.BFRID = id[uint16](1)
	without := func(f func(*bier.Topology)) *bier.Topology { x := lab(); f(x); return x }
	for name, c := range map[string]struct {
		before, after *bier.Topology
		want          string
	}{
		"nothing":                        {lab(), lab(), ""},
		"two with one bfr-id":            {lab(), wrong, "bfr-id 1 is node a's"},
		"as wrong as before":             {wrong, wrong, ""},
		"the topology of a channel goes": {lab(), nil, "channel tv"},
		"an egress leaves":               {lab(), without(func(x *bier.Topology) { x.Nodes[1].Params = bier.NodeParams{} }), "egress of the deployed channel tv"},
		"a node without use goes":        {lab(), without(func(x *bier.Topology) { x.Nodes = x.Nodes[:2] }), ""},
		"no sub-domain 0":                {nil, &bier.Topology{ID: "n", Domains: []bier.Domain{{ID: 4, SubDomains: []bier.SubDomainRef{{ID: 3}}}}}, "sub-domain 0 is missing"},
	} {
		err := Check(c.before, c.after, deployed)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// What is configured stays when its source is gone; what is not seen by a source that was
// not heard yet stays as well.
func TestObserve(t *testing.T) {
	seen := topology.Topology{Nodes: map[string]topology.Node{"openflow:a": {ID: "openflow:a"}}, Links: map[string]topology.Link{"l": {ID: "l", SourceNode: "a", DestNode: "b"}}}
	all := Observe(lab(), seen, Kept{})
	if fmt.Sprint(all.DelNodes) != "[c]" || len(all.PutLinks) != 1 || len(all.PutNodes) != 1 {
		t.Errorf("%+v", all)
	}
	if other := Observe(lab(), seen, Kept{Nodes: []string{"c"}}); len(other.DelNodes) != 0 || len(other.DelLinks) != len(all.DelLinks) {
		t.Errorf("what another source sees goes: %+v", other)
	}
	if part := Observe(lab(), seen, Kept{All: true}); len(part.DelNodes)+len(part.DelLinks) != 0 {
		t.Errorf("deleted before all sources were heard: %+v", part)
	}
}
