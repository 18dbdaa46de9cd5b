package main

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"ctl.internal/internal/netconf"
	"ctl.internal/internal/netconf/xmltree"
)

const multicast = "urn:ietf:params:xml:ns:yang:ietf-multicast-information"

// group is the multicast group of channel k.
func group(k int) string { return fmt.Sprintf("232.%d.%d.%d", 1+k/62500, k/250%250, 1+k%250) }

// entry is what a router holds of a channel, as the driver writes it.
func entry(source string, k, ingress int, egress []int) *xmltree.Node {
	m := multicast
	leaf := func(name, v string) *xmltree.Node { return xmltree.Leaf(m, name, v) }
	info := xmltree.New(m, "bier-information", leaf("sub-domain", "0"), leaf("ingress-node", strconv.Itoa(ingress)))
	for _, e := range egress {
		info.Add(xmltree.New(m, "egress-nodes", leaf("egress-node", strconv.Itoa(e))))
	}
	return xmltree.New(m, "multicast-information", xmltree.New(m, "pure-multicast", xmltree.New(m, "pure-multicast", leaf("vpn-id", "0"),
		leaf("source-address", source), leaf("source-wildcard", "32"), leaf("group-address", group(k)), leaf("group-wildcard", "32"),
		xmltree.New(m, "multicast-overlay", info))))
}

// sessions opens one session to each router.
func sessions(ctx context.Context, list []router) ([]*netconf.Session, error) {
	all := make([]*netconf.Session, len(list))
	for i, r := range list {
		s, err := netconf.Dial(ctx, netconf.Target{Host: r.Host, Port: r.Port, User: r.User, Password: r.Password, HostKey: r.HostKey})
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

// raw does the changes of each router: edit-config of candidate and commit for each,
// one after the other, all routers at the same time. change makes the k-th of router i,
// nil when it has none.
func raw(ctx context.Context, all []*netconf.Session, n int, change func(i, k int) *xmltree.Node) (changes int, took time.Duration, err error) {
	var group sync.WaitGroup
	var mu sync.Mutex
	start := time.Now()
	for i, s := range all {
		group.Go(func() {
			done := 0
			var bad error
			for k := 0; k < n && bad == nil; k++ {
				c := change(i, k)
				if c == nil {
					continue
				}
				edit := netconf.Edit{Target: netconf.CandidateDS, DefaultOperation: "merge", Config: []*xmltree.Node{c}}.Operation()
				if bad = s.OK(ctx, edit); bad == nil {
					bad = s.OK(ctx, netconf.CommitOp())
				}
				done++
			}
			mu.Lock()
			defer mu.Unlock()
			changes += done
			if err == nil {
				err = bad
			}
		})
	}
	group.Wait()
	return changes, time.Since(start), err
}
