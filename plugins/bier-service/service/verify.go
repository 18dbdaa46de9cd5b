package service

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"ctl.internal/internal/bier"
	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/state"
)

// reading bounds one question to one router, pinging one ping of all targets.
const (
	reading = 30 * time.Second
	pinging = 2 * time.Minute
)

// verifyForwarding compares the forwarding tables of routers with those computed, of all mounted ones when
// nodes is empty.
func (s *Service) verifyForwarding(ctx context.Context, in nodesIn) (*verifyOut, error) {
	now, err := s.data.store.Fresh(ctx)
	if err != nil {
		return nil, err
	}
	nodes := shortIDs(in.Nodes)
	if len(nodes) == 0 {
		nodes = s.data.Mounts.Nodes(now)
	}
	out := make([]verified, len(nodes))
	var group errgroup.Group
	group.SetLimit(s.set.Parallel)
	for i, node := range nodes {
		group.Go(func() error {
			out[i] = s.verifyOne(ctx, now, node)
			return nil
		})
	}
	return &verifyOut{out}, group.Wait()
}

// shortIDs are ids as the topology has them.
func shortIDs(ids []string) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = bier.ShortID(id)
	}
	return out
}

// verifyOne compares the forwarding tables of one router with those that are computed.
func (s *Service) verifyOne(ctx context.Context, now *state.Snapshot, node string) verified {
	read, err := s.forwarding(ctx, now, node)
	if err != nil {
		return verified{
			Node:   node,
			Result: unknown,
			Reason: err.Error(),
		}
	}
	return compare(node, s.computeTables(now, node), read)
}

// forwarding reads the forwarding tables of a router.
func (s *Service) forwarding(
	ctx context.Context,
	now *state.Snapshot,
	node string,
) ([]*bierdriver.Forwarding, error) {
	ctx, cancel := context.WithTimeout(ctx, reading)
	defer cancel()
	r, client, err := s.routerAndDriver(now, node)
	if err != nil {
		return nil, err
	}
	return client.Forwarding(ctx, r)
}

// compare says how tables that a router shows differ from those computed.
func compare(node string, computed []tables, read []*bierdriver.Forwarding) verified {
	out := verified{Node: node, Tables: len(read)}
	for _, x := range read {
		out.Packets += x.Packets
		out.Bytes += x.Bytes
		out.Counted = out.Counted || x.HasCounters
		out.Differences = append(out.Differences, nearestDifferences(node, computed, x)...)
	}
	for _, c := range computed {
		for _, t := range c.tables {
			if !slices.ContainsFunc(read, func(x *bierdriver.Forwarding) bool {
				return int(x.Bitstringlength) == int(t.BSL) && int(x.Si) == t.SI
			}) &&
				len(t.Entries) > 0 {
				out.Differences = append(
					out.Differences,
					fmt.Sprintf(
						"sub-domain %d, length %d, set %d: the router has no table",
						c.sub,
						t.BSL,
						t.SI,
					),
				)
			}
		}
	}
	out.Result = equal
	if len(out.Differences) > 0 {
		out.Result, out.Reason = different, out.Differences[0]
	}
	return out
}

// tables are the tables computed for a node in one sub-domain.
type tables struct {
	topology *bier.Topology
	domain   uint16
	sub      uint16
	tables   []bier.BIFT
}

// nodeByPrefix is the node-id of a neighbour that a router names by its BFR-prefix, or by the port that leads there; else "".
func (c *tables) nodeByPrefix(from, name string) string {
	p, err := netip.ParsePrefix(name)
	if err != nil {
		return c.neighbor(from, strings.Fields(name))
	}
	for i := range c.topology.Nodes {
		n := &c.topology.Nodes[i]
		d, _ := n.Member(c.domain, c.sub)
		if d == nil {
			continue
		}
		for _, own := range []string{d.Global.IPv4Prefix, d.Global.IPv6Prefix} {
			o, err := netip.ParsePrefix(own)
			if err == nil && o.Addr() == p.Addr() {
				return n.ID
			}
		}
	}
	return ""
}

// neighbor is the node at the other end of the link from a port that one of these words names, "" if there is none.
func (c *tables) neighbor(from string, words []string) string {
	named := func(tp string) bool {
		if slices.Contains(words, tp) {
			return true
		}
		for _, x := range c.topology.Node(from).TPs {
			if x.ID == tp && x.IfName != "" && slices.Contains(words, x.IfName) {
				return true
			}
		}
		return false
	}
	for i := range c.topology.Links {
		l := &c.topology.Links[i]
		if l.Source.Node == from && l.Source.TP != "" && named(l.Source.TP) {
			return l.Dest.Node
		}
	}
	return ""
}

// computeTables are the tables of a node for the lengths that it makes as ingress or has label
// ranges for.
func (s *Service) computeTables(now *state.Snapshot, node string) (out []tables) {
	for _, id := range s.data.IDs(now) {
		t := s.data.Topology(now, id)
		n := t.Node(node)
		if n == nil {
			continue
		}
		for i := range n.Params.Domains {
			d := &n.Params.Domains[i]
			for j := range d.Global.SubDomains {
				x := &d.Global.SubDomains[j]
				all := tables{
					topology: t,
					domain:   d.ID,
					sub:      x.ID,
				}
				lengths := bier.Disposition(d, x)
				b := bier.Imposition(d, x)
				if b != 0 && !slices.Contains(lengths, b) {
					lengths = append(lengths, b)
				}
				for _, b := range lengths {
					all.tables = append(all.tables, t.Graph(d.ID, x.ID).BIFTs(node, b)...)
				}
				out = append(out, all)
			}
		}
	}
	return out
}

// nearestDifferences are the differences to the tables of the sub-domain; of a router that does not say
// the sub-domain, to those it is nearest to.
func nearestDifferences(node string, computed []tables, x *bierdriver.Forwarding) (out []string) {
	first := true
	for _, c := range computed {
		if x.HasSubDomain && uint32(c.sub) != x.SubDomainId {
			continue
		}
		named := func(name string) string { return c.nodeByPrefix(node, name) }
		d := bier.CompareTables(node, c.tables, x, named)
		if first || len(d) < len(out) {
			out, first = d, false
		}
	}
	if first && len(x.Neighbors) > 0 {
		out = bier.CompareTables(node, nil, x, func(string) string { return "" })
	}
	return out
}

// routerAndDriver returns the driver of a mounted router.
func (s *Service) routerAndDriver(
	now *state.Snapshot,
	node string,
) (*bierdriver.Router, *bierdriver.Client, error) {
	r := s.data.Mounts.Get(now, node)
	if r == nil {
		return nil, nil, fault.New(fault.NotFound, "no router is mounted as %s", node)
	}
	name := r.Driver
	x, ok := s.data.status.Get(now, bier.RouterKey(node))
	if ok && name == "" {
		name = x.Driver
	}
	client, err := s.registry.Client(name)
	return r, client, err
}

// pingChannel has the ingress of a channel ping its egress nodes over BIER.
func (s *Service) pingChannel(ctx context.Context, q pingIn) (*pingOut, error) {
	switch {
	case q.Channel == "":
		return nil, fault.At(
			fault.Missing,
			"/bier-service-api:input/channel-name",
			"channel-name is missing",
		)
	case q.Count < 1 || q.Count > bierdriver.MaxPings:
		return nil, fault.At(
			fault.Invalid,
			"/bier-service-api:input/count",
			"count %d is not within 1..%d",
			q.Count,
			bierdriver.MaxPings,
		)
	}
	q.Egress = shortIDs(q.Egress)
	now, err := s.data.store.Fresh(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, pinging)
	defer cancel()
	t, c, err := s.findChannel(now, q.Topology, q.Channel)
	if err != nil {
		return nil, err
	}
	var targets []*bierdriver.Member
	var out []pinged
	for _, e := range c.EgressNodes {
		if len(q.Egress) > 0 && !slices.Contains(q.Egress, e.ID) {
			continue
		}
		m := member(t, c.DomainID, c.SubDomainID, e.ID)
		if m == nil {
			return nil, fault.New(
				fault.Invalid,
				"the egress node %s is not in sub-domain %d of domain %d",
				e.ID,
				c.SubDomainID,
				c.DomainID,
			)
		}
		targets = append(targets, m)
		out = append(out, pinged{Node: e.ID})
	}
	if len(targets) == 0 {
		return nil, fault.New(
			fault.Invalid,
			"channel %s has none of the egress nodes %v",
			c.Name,
			q.Egress,
		)
	}
	r, client, err := s.routerAndDriver(now, c.IngressNode)
	if err != nil {
		return nil, err
	}
	replies, err := client.Ping(ctx, r, targets, q.Count)
	if err != nil {
		return nil, err
	}
	if len(replies) != len(out) {
		return nil, fault.Device(
			fault.Downstream,
			"the driver of router %s answered for %d of %d egress nodes",
			c.IngressNode,
			len(replies),
			len(out),
		)
	}
	state := s.data.status.Channel(now, t, c, s.data.Channels.Revision(now, t.ID, c.Name))
	for i := range out {
		out[i].Sent, out[i].Received = replies[i].Sent, replies[i].Received
		k := slices.IndexFunc(state.Carriers, func(x bier.RouterState) bool {
			return x.Role == bier.RoleEgress && x.Node == out[i].Node
		})
		out[i].State, out[i].Reason = state.Carriers[k].State, state.Carriers[k].Reason
	}
	return &pingOut{out}, nil
}

// findChannel finds a deployed channel; without a topology, in the only one that has it.
func (s *Service) findChannel(
	now *state.Snapshot,
	topology, name string,
) (*bier.Topology, *bier.Channel, error) {
	var found *bier.Topology
	var channel *bier.Channel
	for _, id := range s.data.ChannelTopologies(now) {
		c, ok := s.data.Channels.Get(now, id, name)
		if !ok || topology != "" && topology != id {
			continue
		}
		if found != nil {
			return nil, nil, fault.New(
				fault.Invalid,
				"topologies %s and %s have a channel %s each: choose one",
				found.ID,
				id,
				name,
			)
		}
		found, channel = s.data.Topology(now, id), &c
	}
	switch {
	case found == nil:
		return nil, nil, fault.New(fault.NotFound, "there is no channel %s", name)
	case !channel.Deployed():
		return nil, nil, fault.New(fault.Invalid, "channel %s is not deployed", name)
	}
	return found, channel, nil
}
