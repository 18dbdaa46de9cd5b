package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"ctl.internal/bench/rig"
)

// view is the topology at a moment.
type view struct {
	at           time.Time
	nodes, links int
	invented     int // links that the ring does not have
}

type measure struct {
	controller *rig.Controller
	plugin     int // pid
	lab        *lab
	views      chan view
	bad        int
}

var errRestless = errors.New("a link was lost or invented while nothing happened")

func (m *measure) measureAll(ctx context.Context, cuts int, quiet time.Duration) error {
	n := m.lab.switches
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go m.watchTopology(ctx)
	up := make(chan struct{})
	go func() {
		defer close(up)
		if err := m.lab.runScript(ctx, "up"); err != nil {
			cancel(err)
		}
	}()
	first, err := m.awaitView(ctx, func(v view) bool { return v.nodes > 0 })
	if err != nil {
		return err
	}
	all, err := m.awaitView(ctx, func(v view) bool { return v.nodes == n })
	if err != nil {
		return err
	}
	done := all
	if all.links != 2*n {
		if done, err = m.awaitView(ctx, func(v view) bool {
			return v.links == 2*n
		}); err != nil {
			return err
		}
	}
	<-up
	fmt.Printf("%d switches, %d of %d links, %d invented\n", done.nodes, done.links, 2*n, m.bad)
	fmt.Printf("first switch to last switch   %v\n", roundDuration(all.at.Sub(first.at)))
	fmt.Printf("last switch to all links      %v\n", roundDuration(done.at.Sub(all.at)))
	before := rig.Used(m.plugin)
	start := time.Now()
	if v, err := m.awaitQuiet(ctx, quiet, 2*n); err != nil {
		return fmt.Errorf("%w: %+v", err, v)
	}
	fmt.Printf(
		"quiet for %v: no link lost, %.1f %% of a processor\n",
		quiet,
		100*(rig.Used(m.plugin)-before).Seconds()/time.Since(start).Seconds(),
	)
	if err := m.measurePortCuts(ctx, cuts, 2*n); err != nil {
		return err
	}
	fmt.Printf(
		"memory of the plugin          %d MiB, most ever %d MiB\n",
		rig.Memory(m.plugin, "VmRSS")>>10,
		rig.Memory(m.plugin, "VmHWM")>>10,
	)
	t := time.Now()
	_, err = m.controller.Ctl(ctx, "feature:uninstall ctl-openflow")
	fmt.Printf("stop, with the rules removed  %v\n", roundDuration(time.Since(t)))
	return err
}

// measurePortCuts takes ports down and up again. The other end keeps its own state, so both
// directions must go by what one switch reports.
func (m *measure) measurePortCuts(ctx context.Context, cuts, links int) error {
	var down, up, rest []time.Duration
	for i := range cuts {
		sw := i*max(m.lab.switches/cuts, 1)%m.lab.switches + 1
		for _, s := range []struct {
			state string
			links int
			took  *[]time.Duration
		}{{"down", links - 2, &down}, {"up", links, &up}} {
			t := time.Now()
			if err := m.lab.setPortState(ctx, sw, s.state); err != nil {
				return err
			}
			returned := time.Now()
			v, err := m.awaitView(ctx, func(v view) bool { return v.links == s.links })
			if err != nil {
				return err
			}
			if s.state == "down" {
				rest = append(rest, max(v.at.Sub(returned), 0))
			}
			*s.took = append(*s.took, v.at.Sub(t))
		}
	}
	for _, r := range []struct {
		name string
		took []time.Duration
	}{{"cable cut, command to topology", down}, {"of it after ovs-appctl returned", rest}, {"cable mended, the same", up}} {
		fmt.Printf(
			"%-31s middle %v, worst %v of %d\n",
			r.name,
			roundDuration(rig.At(r.took, 50)),
			roundDuration(rig.At(r.took, 100)),
			len(r.took),
		)
	}
	return nil
}

func (m *measure) awaitQuiet(ctx context.Context, d time.Duration, links int) (view, error) {
	end := time.NewTimer(d)
	defer end.Stop()
	for {
		select {
		case v := <-m.views:
			if v.links != links {
				return v, errRestless
			}
		case <-end.C:
			return view{}, nil
		case <-ctx.Done():
			return view{}, context.Cause(ctx)
		}
	}
}

// watchTopology reads the topology as a client does, and sends each view that differs from the one before.
func (m *measure) watchTopology(ctx context.Context) {
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	var last string
	for {
		text, err := m.readTopology(ctx)
		if err != nil && ctx.Err() == nil {
			fmt.Println("the topology cannot be read:", err)
		}
		if err == nil && text != last {
			last = text
			select {
			case m.views <- m.lab.countView(text):
			case <-ctx.Done():
			}
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return
		}
	}
}

func (m *measure) readTopology(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	text, status, err := rig.Ask(ctx, http.DefaultClient, http.MethodGet,
		"http://"+m.controller.HTTP+"/restconf/operational/network-topology:network-topology/topology/flow:1", "", "")
	if status == http.StatusNotFound {
		err = nil
	}
	return string(text), err
}

// countView counts what an answer holds; an answer without the topology holds nothing.
func (l *lab) countView(text string) view {
	var doc struct {
		Topology []struct {
			Node []struct{} `json:"node"`
			Link []struct {
				ID   string `json:"link-id"`
				Dest struct {
					TP string `json:"dest-tp"`
				} `json:"destination"`
			} `json:"link"`
		} `json:"topology"`
	}
	v := view{at: time.Now()}
	if json.Unmarshal([]byte(text), &doc) != nil || len(doc.Topology) != 1 {
		return v
	}
	t := doc.Topology[0]
	v.nodes, v.links = len(t.Node), len(t.Link)
	for _, link := range t.Link {
		if !l.hasLink(link.ID, link.Dest.TP) {
			v.invented++
		}
	}
	return v
}

func (m *measure) awaitView(ctx context.Context, done func(view) bool) (view, error) {
	limit := time.NewTimer(5 * time.Minute)
	defer limit.Stop()
	var v view
	for {
		select {
		case v = <-m.views:
			m.bad = max(m.bad, v.invented)
			if done(v) {
				return v, nil
			}
		case <-limit.C:
			return v, fmt.Errorf("not within five minutes: %+v", v)
		case <-ctx.Done():
			return v, context.Cause(ctx)
		}
	}
}

// hasLink reports whether the ring has a link.
func (l *lab) hasLink(from, to string) bool {
	var a, p, b, q int
	_, err := fmt.Sscanf(from+" "+to, "openflow:%d:%d openflow:%d:%d", &a, &p, &b, &q)
	if err != nil {
		return false
	}
	return p == 1 && q == 2 && b == a%l.switches+1 || p == 2 && q == 1 && a == b%l.switches+1
}

func roundDuration(d time.Duration) time.Duration {
	return d.Round(100 * time.Microsecond)
}
