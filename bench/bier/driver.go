package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"ctl.internal/bench/rig"
	"ctl.internal/internal/netconf/xmltree"
	"ctl.internal/plugins/bier-driver-ietf/device"
	"ctl.internal/sdk/bierdriver"
)

// driverRouters is how many routers the driver alone is measured with.
const driverRouters = 50

// driverPart measures the driver alone: changes of each router one by one, which is the
// worst case, and changes that were queued, eight in one Apply.
func (o *options) driverPart(ctx context.Context, dir string) error {
	for _, queued := range []int{1, 4, 16} {
		var ratios []float64
		var ours, peer float64
		var messages float64
		for range o.rounds {
			x, y, m, err := o.driverRound(ctx, dir, queued)
			if err != nil {
				return err
			}
			ours, peer, messages = x, y, m
			ratios = append(ratios, x/y)
		}
		slices.Sort(ratios)
		printResult(fmt.Sprintf("driver alone, %d queued for each router", queued), "%.0f changes/s, %.1f requests a change; bare edit-config and commit %.0f/s; ratio %.2f (median of %d)",
			ours, messages, peer, ratios[len(ratios)/2], o.rounds)
	}
	return nil
}

func (o *options) driverRound(
	ctx context.Context,
	dir string,
	queued int,
) (ours, peer, messages float64, err error) {
	lab, err := startRouters(dir, driverRouters)
	if err != nil {
		return 0, 0, 0, err
	}
	defer lab.Stop()
	d := device.New(device.Defaults(), slog.New(slog.NewTextHandler(io.Discard, nil)))
	watching, stop := context.WithCancel(ctx)
	var watches sync.WaitGroup
	defer watches.Wait()
	defer stop()
	targets := make([]*bierdriver.Router, len(lab.list))
	for i, r := range lab.list {
		targets[i] = &bierdriver.Router{
			NodeId:   r.Name,
			Host:     r.Host,
			Port:     uint32(r.Port),
			User:     r.User,
			Password: r.Password,
			HostKey:  r.HostKey,
		}
		up := make(chan struct{})
		var once sync.Once
		watches.Go(func() {
			_ = d.Watch(watching, targets[i], func(e *bierdriver.Event) error {
				if e.GetSession().GetState() == bierdriver.Up {
					once.Do(func() { close(up) })
				}
				return nil
			})
		})
		select {
		case <-up:
		case <-time.After(30 * time.Second):
			return 0, 0, 0, fmt.Errorf("router %s does not come up", r.Name)
		}
	}
	all, err := openSessions(ctx, lab.list)
	if err != nil {
		return 0, 0, 0, err
	}
	took, err := measureRawChanges(ctx, all, o.single, func(i, k int) *xmltree.Node {
		return newChannelEntry("10.8.8.8", k, 1, []int{i + 1})
	})
	closeAll(all)
	if err != nil {
		return 0, 0, 0, err
	}
	changes := float64(len(targets) * o.single)
	peer = changes / took.Seconds()
	empty := &bierdriver.Config{}
	for _, r := range targets { // takes away what the peer wrote
		a, err := d.Apply(ctx, r, empty, bierdriver.Always)
		if err != nil || a.State != bierdriver.Applied {
			return 0, 0, 0, fmt.Errorf("%v, %v", a, err)
		}
	}
	var sent atomic.Uint32
	start := time.Now()
	err = rig.Each(len(targets), len(targets), func(i int) error {
		c := &bierdriver.Config{}
		for k := range o.single {
			c.Channels = append(c.Channels, &bierdriver.Channel{
				SourceAddress:  "10.8.8.8",
				SourceWildcard: 32,
				GroupAddress:   channelGroup(k),
				GroupWildcard:  32,
				IngressBfrId:   1,
				EgressBfrIds:   []uint32{uint32(i + 1)},
			})
			if (k+1)%queued != 0 && k+1 < o.single {
				continue
			}
			bierdriver.Canonical(c)
			a, err := d.Apply(ctx, targets[i], c, bierdriver.Always)
			if err == nil && a.State != bierdriver.Applied {
				err = fmt.Errorf("%s: %s", targets[i].NodeId, a.Reason)
			}
			if err != nil {
				return err
			}
			sent.Add(a.GetMessages())
		}
		return nil
	})
	return changes / time.Since(start).Seconds(), peer, float64(sent.Load()) / changes, err
}
