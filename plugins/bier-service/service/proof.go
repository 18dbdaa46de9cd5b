package service

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"

	"ctl.internal/internal/bier"
	"ctl.internal/internal/together"
	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/state"
)

// The proof of delivery asks each router in its turn for its forwarding tables and for the counters of its channels,
// and has it ping the egress nodes of the channels that it is the ingress of.
const (
	// convergence is how long a fault must last: while routers learn a change, tables differ and packets are lost.
	convergence = 5 * time.Second
	// maxProving bounds the routers that are asked at the same time.
	maxProving = 8
	// pingsAtOnce and countsAtOnce bound what one question to a router asks for.
	pingsAtOnce  = 8
	countsAtOnce = 50
	// proofRest is how long changes are gathered before it is found out which routers they concern.
	proofRest = 200 * time.Millisecond
)

// prover gives the routers their turns.
type prover struct {
	*acting
	limit *rate.Limiter
	turns *semaphore.Weighted
	group sync.WaitGroup

	mu    sync.Mutex
	plans map[string]*turnPlan // by node-id
}

// turnPlan is when a router has its next turn.
type turnPlan struct {
	due     time.Time
	began   time.Time // the turn that is running
	running bool
	about   string // of what the last turn was, or the next one is
}

// hasten plans the next turn early after a change. One during a turn is seen again when the turn has ended, which may
// have asked before it.
func (x *turnPlan) hasten(about string, due time.Time) {
	if x.running || x.about == about {
		return
	}
	x.about = about
	if due.Before(x.due) {
		x.due = due
	}
}

func newProver(a *acting) *prover {
	budget := a.set.ProofBudget
	return &prover{
		acting: a,
		limit:  rate.NewLimiter(rate.Limit(budget), max(budget, pingsAtOnce)),
		turns:  semaphore.NewWeighted(maxProving),
		plans:  map[string]*turnPlan{},
	}
}

// run gives each router its turn within the interval of the settings, spread evenly, and soon after something has
// changed, until ctx ends.
func (p *prover) run(ctx context.Context) {
	defer p.group.Wait()
	if p.set.Proof.Duration <= 0 {
		p.forget()
		return
	}
	for ctx.Err() == nil {
		next := p.schedule(time.Now())
		for _, node := range p.ready(time.Now()) {
			if p.turns.Acquire(ctx, 1) != nil {
				return
			}
			p.group.Go(func() {
				defer p.turns.Release(1)
				p.turn(ctx, node)
				p.done(node, time.Now())
			})
		}
		wait := time.NewTimer(max(proofRest, time.Until(next)))
		select {
		case <-ctx.Done():
		case <-wait.C:
		case <-p.proving:
			host.Pause(ctx, proofRest)
		}
		wait.Stop()
	}
}

// forget removes what was measured before the proof was switched off.
func (p *prover) forget() {
	now := p.data.store.Now()
	for node := range p.data.status.Readings.All(now, "") {
		p.records.reading(node, nil, nil)
	}
	for key, n := range p.data.status.Notices.All(now, "") {
		if n.Kind == bier.NetworkDiffers {
			p.records.putNotice(key, nil)
		}
	}
}

// patience is how long a fault must last before it counts.
func (p *prover) patience() time.Duration {
	return min(convergence, p.set.Proof.Duration/2)
}

// schedule plans turns, and returns when the next is.
func (p *prover) schedule(at time.Time) (next time.Time) {
	now, interval := p.data.store.Now(), p.set.Proof.Duration
	nodes := p.data.Mounts.Nodes(now)
	soon := p.patience()
	each := interval / time.Duration(max(1, len(nodes)))
	p.mu.Lock()
	defer p.mu.Unlock()
	next = at.Add(interval)
	added := 0
	known := map[string]bool{}
	for _, node := range nodes {
		known[node] = true
		x, about := p.plans[node], p.about(now, node)
		switch {
		case x == nil:
			x = &turnPlan{
				due:   at.Add(soon + time.Duration(added)*each),
				about: about,
			}
			p.plans[node] = x
			added++
		default:
			x.hasten(about, at.Add(soon))
		}
		if !x.running && x.due.Before(next) {
			next = x.due
		}
	}
	maps.DeleteFunc(p.plans, func(node string, x *turnPlan) bool {
		return !known[node] && !x.running
	})
	return next
}

// about is different after a change that a proof of before says nothing of.
func (p *prover) about(now state.Reader, node string) string {
	x, _ := p.data.status.Get(now, bier.RouterKey(node))
	session, _ := p.data.status.Sessions.Get(now, node)
	out := fmt.Sprint(x.State, x.Since.UnixNano(), x.Hash, session.State)
	for _, id := range p.data.IDs(now) {
		t := p.data.Topology(now, id)
		n := t.Node(node)
		if n == nil {
			continue
		}
		for i := range n.Params.Domains {
			d := &n.Params.Domains[i]
			for _, s := range d.Global.SubDomains {
				out += t.Graph(d.ID, s.ID).Print()
			}
		}
	}
	return out
}

// ready marks the routers whose turn it is.
func (p *prover) ready(at time.Time) (nodes []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for node, x := range p.plans {
		if !x.running && !x.due.After(at) {
			x.running, x.began = true, at
			nodes = append(nodes, node)
		}
	}
	slices.Sort(nodes)
	return nodes
}

// done plans the next turn of a router: so that it ends within the interval after the end of this one, also if a fault
// must be looked at again in it.
func (p *prover) done(node string, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if x := p.plans[node]; x != nil {
		interval := p.set.Proof.Duration
		x.running, x.due = false, at.Add(max(interval/2, interval-p.patience()-at.Sub(x.began)))
	}
	together.Notify(p.proving)
}

// every is the time between the ends of two turns of a router, if the next is as late and takes as long as the one
// that is running.
func (p *prover) every(node string, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	every := p.set.Proof.Duration
	if x := p.plans[node]; x != nil {
		every += now.Sub(x.due)
	}
	return every
}

// questioning is a turn of a router.
type questioning struct {
	*prover
	node    string
	before  bier.Reading
	reading bier.Reading
	tables  verified // Result is "" where they are not asked for
	targets []*pingTarget
}

// turn asks one router, if its session is up, and keeps what it says. What it cannot say changes nothing.
func (p *prover) turn(ctx context.Context, node string) {
	now := p.data.store.Now()
	session, _ := p.data.status.Sessions.Get(now, node)
	if session.State != bier.SessionUp {
		return
	}
	before, had := p.data.status.Readings.Get(now, node)
	q := &questioning{
		prover:  p,
		node:    node,
		before:  before,
		reading: bier.Reading{At: time.Now().UTC().Truncate(time.Millisecond)},
	}
	q.ask(ctx, now)
	var counts bier.Counts
	if !p.data.status.Lacks(now, node, bierdriver.DeliveryAbility) {
		counts = p.count(ctx, node)
	}
	r := &q.reading
	if ctx.Err() != nil || !had && r.Tables == nil && len(r.Pings) == 0 && len(counts) == 0 {
		return
	}
	end := time.Now()
	r.Until, r.Every = end.UTC().Truncate(time.Millisecond), p.every(node, end)
	p.records.reading(node, r, counts)
}

// ask asks for the tables and has the egress nodes pinged. What seems to be wrong is asked for once more after a while:
// tables and pings wait for it together, as the state that is shown does.
func (q *questioning) ask(ctx context.Context, now *state.Snapshot) {
	if !q.data.status.Lacks(now, q.node, bierdriver.ForwardingAbility) {
		q.tables = q.readOnce(ctx, q.node, &q.reading)
	}
	if q.set.ProofPackets > 0 && !q.data.status.Lacks(now, q.node, bierdriver.PingAbility) {
		q.targets = q.findTargets(now, q.node)
		q.ping(ctx, q.targets)
	}
	for _, t := range q.targets {
		t.noteLoss(q.before.Pings)
	}
	again := slices.DeleteFunc(slices.Clone(q.targets), func(t *pingTarget) bool {
		return !lost(t)
	})
	if q.tables.Result == different || len(again) > 0 {
		host.Pause(ctx, q.patience())
		if ctx.Err() != nil {
			return
		}
	}
	if q.tables.Result == different {
		q.reading.At = time.Now().UTC().Truncate(time.Millisecond)
		q.tables = q.readOnce(ctx, q.node, &q.reading)
	}
	q.ping(ctx, again)
	q.noteDifferences()
	q.keepPings()
}

// noteDifferences notes whether the tables are other tables than computed.
func (q *questioning) noteDifferences() {
	key := q.node + "/" + bier.NetworkDiffers
	switch v := q.tables; v.Result {
	case equal:
		q.records.putNotice(key, nil)
	case different:
		text := bier.Several(v.Differences)
		if len(v.Differences) > 1 {
			text = fmt.Sprintf("%d differences: %s", len(v.Differences), text)
		}
		x, _ := q.data.status.Get(q.data.store.Now(), bier.RouterKey(q.node))
		q.records.putNotice(
			key,
			&bier.Notice{
				Node: q.node,
				Kind: bier.NetworkDiffers,
				Text: text,
				At:   q.reading.At,
				Hash: x.Hash,
			},
		)
	}
}

func (p *prover) readOnce(ctx context.Context, node string, r *bier.Reading) verified {
	if p.limit.Wait(ctx) != nil {
		return verified{Result: unknown}
	}
	now := p.data.store.Now()
	computed := p.computeTables(now, node)
	read, err := p.forwarding(ctx, now, node)
	if err != nil {
		return verified{Result: unknown, Reason: err.Error()}
	}
	r.Tables, r.Graphs = nil, nil
	if tellsSubDomains(computed, read) {
		r.Tables = shownAs(node, computed, read)
		r.Graphs = map[string]string{}
		for _, c := range computed {
			r.Graphs[bier.GraphKey(c.topology.ID, c.domain, c.sub)] = c.topology.Graph(c.domain, c.sub).Print()
		}
	}
	return compare(node, computed, read)
}

// ping has the router ping egress nodes, each once.
func (q *questioning) ping(ctx context.Context, targets []*pingTarget) {
	now := q.data.store.Now()
	for list := range slices.Chunk(targets, pingsAtOnce) {
		err := q.pingSome(ctx, now, q.node, list)
		if err == nil {
			continue
		}
		slog.Debug("the egress nodes of channels were not pinged", "node", q.node, "error", err)
		if fault.KindOf(err) == fault.Unsupported {
			return
		}
	}
}

// keepPings notes what came of the pings; of egress nodes that could not be pinged it is what was known before.
func (q *questioning) keepPings() {
	for _, t := range q.targets {
		if t.Sent > 0 {
			if !lost(t) {
				t.Failing = time.Time{}
			}
			q.reading.Pings = append(q.reading.Pings, t.Pinged)
		} else if b := t.find(q.before.Pings); b != nil {
			q.reading.Pings = append(q.reading.Pings, *b)
		}
	}
}

// pingTarget is an egress node to ping.
type pingTarget struct {
	bier.Pinged
	member *bierdriver.Member
}

func lost(t *pingTarget) bool { return t.Received < t.Sent }

// find is what came of the ping of the same egress node before, nil if there was none.
func (t *pingTarget) find(before []bier.Pinged) *bier.Pinged {
	i := slices.IndexFunc(before, func(b bier.Pinged) bool {
		return b.Node == t.Node && b.Domain == t.Domain && b.SubDomain == t.SubDomain
	})
	if i < 0 {
		return nil
	}
	return &before[i]
}

// noteLoss notes since when pings fail, if this one did.
func (t *pingTarget) noteLoss(before []bier.Pinged) {
	if !lost(t) {
		return
	}
	t.Failing = t.At
	if b := t.find(before); b != nil && !b.Failing.IsZero() {
		t.Failing = b.Failing
	}
}

// findTargets returns the egress nodes of the channels that a router is the ingress of, without those that no packet
// comes to.
func (p *prover) findTargets(now *state.Snapshot, node string) (out []*pingTarget) {
	seen := map[string]bool{}
	for _, id := range p.data.ChannelTopologies(now) {
		t := p.data.Topology(now, id)
		for c := range p.data.ChannelsIn(now, id) {
			if t == nil || c.IngressNode != node {
				continue
			}
			for _, e := range c.EgressNodes {
				key := fmt.Sprint(c.DomainID, c.SubDomainID, e.ID)
				m := member(t, c.DomainID, c.SubDomainID, e.ID)
				if seen[key] ||
					m == nil ||
					m.BfrId == 0 ||
					p.data.status.Latest(now, e.ID).State != bier.Applied {
					continue
				}
				seen[key] = true
				out = append(
					out,
					&pingTarget{bier.Pinged{
						Domain:    c.DomainID,
						SubDomain: c.SubDomainID,
						Node:      e.ID,
					}, m},
				)
			}
		}
	}
	return out
}

// member is a node of a sub-domain as drivers know it, nil if it is no member.
func member(t *bier.Topology, domain, sub uint16, node string) *bierdriver.Member {
	d, x := t.Node(node).Member(domain, sub)
	if x == nil {
		return nil
	}
	return &bierdriver.Member{
		SubDomainId:   uint32(sub),
		BfrId:         uint32(bier.BFRID(d, x)),
		Ipv4BfrPrefix: d.Global.IPv4Prefix,
		Ipv6BfrPrefix: d.Global.IPv6Prefix,
	}
}

// pingSome pings some targets.
func (p *prover) pingSome(
	ctx context.Context,
	now *state.Snapshot,
	node string,
	list []*pingTarget,
) error {
	if err := p.limit.WaitN(ctx, len(list)); err != nil {
		return err
	}
	r, client, err := p.routerAndDriver(now, node)
	if err != nil {
		return err
	}
	members := make([]*bierdriver.Member, len(list))
	for i, t := range list {
		members[i] = t.member
	}
	ctx, cancel := context.WithTimeout(ctx, pinging)
	defer cancel()
	at, revision := time.Now().UTC().Truncate(time.Millisecond), now.Revision()
	replies, err := client.Ping(ctx, r, members, p.set.ProofPackets)
	if err != nil {
		return err
	}
	if len(replies) != len(list) {
		return fault.Device(
			fault.Downstream,
			"the driver of router %s answered for %d of %d egress nodes",
			node,
			len(replies),
			len(list),
		)
	}
	for i, t := range list {
		t.At, t.Revision, t.Sent, t.Received = at, revision, replies[i].Sent, replies[i].Received
	}
	return nil
}

// count reads the counters and receivers of the channels of a router.
func (p *prover) count(ctx context.Context, node string) bier.Counts {
	d := p.engine.Desired(node)
	now := p.data.store.Now()
	if d == nil || len(d.Channels) == 0 {
		return nil
	}
	r, client, err := p.routerAndDriver(now, node)
	if err != nil {
		return nil
	}
	before, _ := p.data.status.Counts.Get(now, node)
	out := bier.Counts{}
	for first := 0; first < len(d.Channels); first += countsAtOnce {
		last := min(first+countsAtOnce, len(d.Channels))
		if p.limit.Wait(ctx) != nil {
			return nil
		}
		ask, cancel := context.WithTimeout(ctx, reading)
		at := time.Now().UTC().Truncate(time.Millisecond)
		list, err := client.Delivery(ask, r, d.Config.Channels[first:last])
		cancel()
		if err != nil || len(list) != last-first {
			slog.Debug(
				"what a router does with channels was not read",
				"node",
				node,
				"error",
				err,
				"answers",
				len(list),
			)
			maps.Copy(out, before)
			return out
		}
		for i, x := range list {
			key := d.Channels[first+i]
			c := counted(before[key], x, at, p.revision(now, key))
			out[key] = c
		}
	}
	return out
}

// revision is that of a channel by its bier.ChannelKey.
func (p *prover) revision(now *state.Snapshot, key string) uint64 {
	topology, name := bier.SplitChannelKey(key)
	return p.data.Channels.Revision(now, topology, name)
}

// counted is what is known of a channel at a router after it was read.
func counted(
	before bier.ChannelCount,
	x *bierdriver.Delivery,
	at time.Time,
	revision uint64,
) bier.ChannelCount {
	c := bier.ChannelCount{
		Revision:  revision,
		Receivers: x.Receivers,
		Shows:     x.HasReceivers,
		Fault:     x.Fault,
		ByHand:    x.ByHand,
	}
	if !x.HasCounters {
		return c
	}
	if before.Revision == revision {
		c.Samples = before.Samples
	}
	c.Add(bier.Sample{At: at, Packets: x.Packets})
	return c
}
