package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"ctl.internal/bench/rig"
	"ctl.internal/internal/netconf"
	"ctl.internal/internal/netconf/xmltree"
)

const multicast = "urn:ietf:params:xml:ns:yang:ietf-multicast-information"

// channelGroup is the multicast group of channel k.
func channelGroup(k int) string {
	return fmt.Sprintf("232.%d.%d.%d", 1+k/62500, k/250%250, 1+k%250)
}

// newChannelEntry is what a router holds of a channel, as the driver writes it.
func newChannelEntry(source string, k, ingress int, egress []int) *xmltree.Node {
	m := multicast
	leaf := func(name, v string) *xmltree.Node { return xmltree.Leaf(m, name, v) }
	info := xmltree.New(
		m,
		"bier-information",
		leaf("sub-domain", "0"),
		leaf("ingress-node", strconv.Itoa(ingress)),
	)
	for _, e := range egress {
		info.Add(xmltree.New(m, "egress-nodes", leaf("egress-node", strconv.Itoa(e))))
	}
	return xmltree.New(m, "multicast-information", xmltree.New(m, "pure-multicast", xmltree.New(m, "pure-multicast", leaf("vpn-id", "0"),
		leaf("source-address", source), leaf("source-wildcard", "32"), leaf("group-address", channelGroup(k)), leaf("group-wildcard", "32"),
		xmltree.New(m, "multicast-overlay", info))))
}

// openSessions opens one session to each router.
func openSessions(ctx context.Context, list []router) ([]*netconf.Session, error) {
	all := make([]*netconf.Session, len(list))
	for i, r := range list {
		s, err := netconf.Dial(
			ctx,
			netconf.Target{
				Host:     r.Host,
				Port:     r.Port,
				User:     r.User,
				Password: r.Password,
				HostKey:  r.HostKey,
			},
		)
		if err != nil {
			return nil, err
		}
		all[i] = s
	}
	return all, nil
}

func closeAll(all []*netconf.Session) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for _, s := range all {
		_ = s.Close(ctx)
	}
}

// measureRawChanges does n changes of each router: edit-config of candidate and commit for each,
// one after the other, all routers at the same time. change makes the k-th of router i.
func measureRawChanges(
	ctx context.Context,
	all []*netconf.Session,
	n int,
	change func(i, k int) *xmltree.Node,
) (time.Duration, error) {
	start := time.Now()
	err := rig.Each(len(all), len(all), func(i int) error {
		for k := range n {
			edit := netconf.Edit{
				Target:           netconf.CandidateDS,
				DefaultOperation: "merge",
				Config:           []*xmltree.Node{change(i, k)},
			}.Operation()
			if err := all[i].OK(ctx, edit); err != nil {
				return err
			}
			if err := all[i].OK(ctx, netconf.CommitOp()); err != nil {
				return err
			}
		}
		return nil
	})
	return time.Since(start), err
}
