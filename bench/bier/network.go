package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"ctl.internal/bench/rig"
	"ctl.internal/internal/bier"
	"ctl.internal/internal/netconf"
	"ctl.internal/internal/netconf/xmltree"
	"ctl.internal/plugins/bier-topomanager/model"
)

// timeComputations times what needs no router: all forwarding tables of a network, and
// whether a BFR-id is free.
func timeComputations(n int) {
	t := bier.Topology{
		ID: "t",
		Domains: []bier.Domain{{
			ID:         1,
			SubDomains: []bier.SubDomainRef{{ID: 0}},
		}},
	}
	for i := range n {
		id := uint16(i + 1)
		t.Nodes = append(t.Nodes, bier.Node{
			ID: fmt.Sprint(i),
			Params: bier.NodeParams{Domains: []bier.NodeDomain{{
				ID: 1,
				Global: bier.Global{BSL: 256, BFRID: &id,
					SubDomains: []bier.SubDomain{{
						ID:  0,
						IGP: "ISIS",
					}}},
			}}},
		})
		for _, j := range []int{i / 2, (i*7 + 3) % n} {
			if j != i {
				for _, x := range [][2]int{{i, j}, {j, i}} {
					t.Links = append(
						t.Links,
						bier.Link{
							ID:     fmt.Sprint(x),
							Metric: uint64(1 + (i+j)%9),
							Source: bier.LinkFrom{Node: fmt.Sprint(x[0])},
							Dest:   bier.LinkTo{Node: fmt.Sprint(x[1])},
						},
					)
				}
			}
		}
	}
	start := time.Now()
	var entries atomic.Int64
	bier.NewGraph(&t, 1, 0).AllBIFTs(256, func(_ int, tables []bier.BIFT) {
		for _, x := range tables {
			entries.Add(int64(len(x.Entries)))
		}
	})
	printResult(
		fmt.Sprintf("forwarding tables, %d nodes × %d BFERs", n, n),
		"%v, %d entries, %d processors; asked for 1 s",
		time.Since(start).Round(time.Millisecond),
		entries.Load(),
		runtime.GOMAXPROCS(0),
	)
	for _, n := range []int{100, 65534} {
		x := model.NewIndex()
		for i := range n {
			id := uint16(i + 1)
			x.Put(&bier.Node{
				ID: fmt.Sprint(i),
				Params: bier.NodeParams{Domains: []bier.NodeDomain{{
					ID: 1,
					Global: bier.Global{
						BFRID:      &id,
						SubDomains: []bier.SubDomain{{ID: 0}},
					},
				}}},
			})
		}
		last := uint16(65535)
		one := &bier.Node{
			ID: "one",
			Params: bier.NodeParams{Domains: []bier.NodeDomain{{
				ID: 1,
				Global: bier.Global{
					BFRID:      &last,
					SubDomains: []bier.SubDomain{{ID: 0}},
				},
			}}},
		}
		const times = 100_000
		start := time.Now()
		for range times {
			x.Check(one)
		}
		printResult(fmt.Sprintf("is a bfr-id free, %d ids taken", n), "%v", time.Since(start)/times)
	}
}

// buildNetwork makes a tree of all routers and has them configured.
func (o *options) buildNetwork(ctx context.Context, l *lab) error {
	var text strings.Builder
	text.WriteString("topology-id: lab\nnode:\n")
	for i := range o.routers {
		fmt.Fprintf(&text, "- {node-id: r%d}\n", i+1)
	}
	text.WriteString("link:\n")
	for i := 2; i <= o.routers; i++ {
		fmt.Fprintf(
			&text,
			"- {source: {source-node: r%d, source-tp: d%d}, destination: {dest-node: r%d, dest-tp: u}, bidirectional: true}\n",
			i/2,
			i,
			i,
		)
	}
	file := filepath.Join(l.dir, "topology.yaml")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		return err
	}
	if _, err := l.Ctl(ctx, "bier:topo-import "+file); err != nil {
		return err
	}
	if _, err := l.callRPC(
		ctx,
		"bier-topology-api:configure-domain",
		map[string]any{
			"topology-id": "lab",
			"domain":      []int{1},
		},
	); err != nil {
		return err
	}
	start := time.Now()
	err := o.forEachParallel(o.routers, func(i int) error {
		r := l.routers.list[i]
		_, err := l.callRPC(ctx, "bier-topology-api:configure-node", map[string]any{
			"topology-id": "lab",
			"node-id":     r.Name,
			"domain": []any{map[string]any{"domain-id": 1,
				"bier-global": map[string]any{
					"bitstringlength": "256-bit",
					"bfr-id":          i + 1,
					"ipv4-bfr-prefix": fmt.Sprintf("10.%d.%d.1/32", i/250, i%250),
					"sub-domain": []any{map[string]any{
						"sub-domain-id": 0,
						"igp-type":      "ISIS",
						"af": map[string]any{"ipv4": []any{map[string]any{
							"bitstringlength":            256,
							"bier-mpls-label-base":       1000,
							"bier-mpls-label-range-size": 16,
						}}},
					}},
				}}},
		})
		return err
	})
	if err != nil {
		return err
	}
	printResult(
		fmt.Sprintf("%d nodes configured", o.routers),
		"%v, %.0f/s, %d at a time",
		roundedSince(start),
		float64(o.routers)/time.Since(start).Seconds(),
		o.users,
	)
	start = time.Now()
	if err := o.forEachParallel(o.routers, func(i int) error {
		r := l.routers.list[i]
		_, err := l.callRPC(
			ctx,
			"bier-service-api:mount-router",
			map[string]any{
				"node-id":  r.Name,
				"host":     r.Host,
				"port":     r.Port,
				"username": r.User,
				"password": r.Password,
				"host-key": r.HostKey,
			},
		)
		return err
	}); err != nil {
		return err
	}
	if err := l.awaitConvergence(ctx, o.routers); err != nil {
		return err
	}
	now, err := l.routers.listRouters()
	if err != nil {
		return err
	}
	printResult(
		fmt.Sprintf("%d routers mounted and configured", o.routers),
		"%v, %s requests a router",
		roundedSince(start),
		formatRequestSpread(make([]router, len(now)), now),
	)
	return nil
}

func roundedSince(t time.Time) time.Duration {
	return time.Since(t).Round(10 * time.Millisecond)
}

// forEachParallel calls f for 0 to n-1, as many at a time as there are users.
func (o *options) forEachParallel(n int, f func(i int) error) error {
	return rig.Each(n, o.users, f)
}

// formatRequestSpread is the median and the most of the requests that came since.
func formatRequestSpread(before, now []router) string {
	var all []int
	for i := range now {
		if n := now[i].requestCount() - before[i].requestCount(); n > 0 {
			all = append(all, n)
		}
	}
	if len(all) == 0 {
		return "0"
	}
	slices.Sort(all)
	return fmt.Sprintf("%d (at most %d)", all[len(all)/2], all[len(all)-1])
}

func countTouchedRouters(before, now []router) (n int) {
	for i := range now {
		if now[i].requestCount() != before[i].requestCount() {
			n++
		}
	}
	return n
}

func (l *lab) addChannel(ctx context.Context, name string, k int) error {
	_, err := l.callRPC(ctx, "bier-channel-api:add-channel", map[string]any{
		"topology-id":     "lab",
		"name":            name,
		"src-ip":          "10.9.9.9",
		"dst-group":       channelGroup(k),
		"domain-id":       1,
		"sub-domain-id":   0,
		"source-wildcard": 32,
		"group-wildcard":  32,
	})
	return err
}

// deployChannel deploys a channel from a router to others, by number from 1.
func (l *lab) deployChannel(ctx context.Context, name string, ingress int, egress []int) error {
	list := make([]any, len(egress))
	for i, e := range egress {
		list[i] = map[string]any{"node-id": fmt.Sprintf("r%d", e)}
	}
	_, err := l.callRPC(
		ctx,
		"bier-channel-api:deploy-channel",
		map[string]any{
			"topology-id":  "lab",
			"channel-name": name,
			"ingress-node": fmt.Sprintf("r%d", ingress),
			"egress-node":  list,
		},
	)
	return err
}

// oneToAll deploys one channel to all routers but one, and then to that one too.
func (o *options) oneToAll(ctx context.Context, l *lab) error {
	var egress []int
	for i := 2; i < o.routers; i++ {
		egress = append(egress, i)
	}
	if err := l.addChannel(ctx, "wide", 999_999); err != nil {
		return err
	}
	before, err := l.routers.listRouters()
	if err != nil {
		return err
	}
	for _, step := range []string{"one channel to all routers but one", "redeployed to one more"} {
		start := time.Now()
		if err := l.deployChannel(ctx, "wide", 1, egress); err != nil {
			return err
		}
		answered := roundedSince(start)
		if err := l.awaitConvergence(ctx, o.routers); err != nil {
			return err
		}
		now, err := l.routers.listRouters()
		if err != nil {
			return err
		}
		printResult(
			fmt.Sprintf("%s (%d)", step, len(egress)),
			"answered %v, all applied %v; %d routers touched, %s requests each",
			answered,
			roundedSince(start),
			countTouchedRouters(before, now),
			formatRequestSpread(before, now),
		)
		before, egress = now, append(egress, o.routers)
	}
	return nil
}

// oneToOne deploys one channel from one router to one other, which is another each time.
func (o *options) oneToOne(ctx context.Context, l *lab) error {
	if err := l.addChannel(ctx, "narrow", 999_998); err != nil {
		return err
	}
	took := make([]time.Duration, 50)
	for i := range took {
		start := time.Now()
		if err := l.deployChannel(ctx, "narrow", 1, []int{2 + i%2}); err != nil {
			return err
		}
		took[i] = time.Since(start)
	}
	printResult("one channel to one router, answered when applied", "median %v, slowest %v of %d", rig.At(took, 50).Round(100*time.Microsecond),
		rig.At(took, 100).Round(100*time.Microsecond), len(took))
	return nil
}

// measureThroughput deploys channels of some routers each, against bare requests with the
// same content on as many sessions to the same routers.
func (o *options) measureThroughput(ctx context.Context, l *lab) error {
	members := func(k int) (ingress int, egress []int) { // all of them in turn are the ingress
		ingress = 1 + k%o.wide
		for i := 1; i <= o.wide; i++ {
			if i != ingress {
				egress = append(egress, i)
			}
		}
		return ingress, egress
	}
	all, err := openSessions(ctx, l.routers.list[:o.wide])
	if err != nil {
		return err
	}
	start := time.Now()
	if err := o.forEachParallel(o.channels, func(k int) error {
		return l.addChannel(ctx, fmt.Sprintf("c%d", k), k)
	}); err != nil {
		return err
	}
	printResult(
		fmt.Sprintf("%d channels added", o.channels),
		"%v, %.0f/s",
		roundedSince(start),
		float64(o.channels)/time.Since(start).Seconds(),
	)
	before, err := l.routers.listRouters()
	if err != nil {
		return err
	}
	cpu := l.cpuTimes()
	start = time.Now()
	if err := o.forEachParallel(o.channels, func(k int) error {
		ingress, egress := members(k)
		return l.deployChannel(ctx, fmt.Sprintf("c%d", k), ingress, egress)
	}); err != nil {
		return err
	}
	if err := l.awaitConvergence(ctx, o.routers); err != nil {
		return err
	}
	took := time.Since(start)
	used, ourTime := formatCPUSpent(cpu, l.cpuTimes())
	now, err := l.routers.listRouters()
	if err != nil {
		return err
	}
	changes := o.channels * o.wide
	ours := float64(changes) / took.Seconds()
	requests := 0
	for i := range now {
		requests += now[i].requestCount() - before[i].requestCount()
	}
	// The peer writes channels of the same size to the same routers, which are emptied
	// first. The controller would take them away again.
	l.Stop()
	if _, err := measureRawChanges(ctx, all, 1, func(int, int) *xmltree.Node {
		return xmltree.New(multicast, "multicast-information").With(netconf.NS, "operation", "remove")
	}); err != nil {
		return err
	}
	cpu = l.cpuTimes()
	bare, err := measureRawChanges(ctx, all, o.channels, func(i, k int) *xmltree.Node {
		ingress, egress := members(k)
		if ingress != i+1 {
			egress = []int{i + 1}
		}
		return newChannelEntry("10.7.7.7", k, ingress, egress)
	})
	closeAll(all)
	if err != nil {
		return err
	}
	peer := float64(changes) / bare.Seconds()
	bareUsed, bareTime := formatCPUSpent(cpu, l.cpuTimes())
	printResult(fmt.Sprintf(
		"%d channels of %d routers deployed",
		o.channels,
		o.wide,
	), "%v, %.0f channels/s, %.0f router changes/s, %.2f requests a change, %s a router",
		took.Round(10*time.Millisecond), float64(o.channels)/took.Seconds(), ours, float64(requests)/float64(changes), formatRequestSpread(before, now))
	printResult("processor time of that", "%s", used)
	printResult(
		"the same by bare edit-config and commit",
		"%v, %.0f router changes/s",
		bare.Round(10*time.Millisecond),
		peer,
	)
	printResult("processor time of that", "%s", bareUsed)
	printResult(
		"ratio of the rates",
		"%.2f; asked for 0.95 (processor time, which other load does not blur: %.2f)",
		ours/peer,
		bareTime.Seconds()/ourTime.Seconds(),
	)
	return nil
}
