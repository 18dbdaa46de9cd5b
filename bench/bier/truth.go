package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Sizes of the part that looks at the states of channels, and how many routers of each ten
// are switched off: one.
const (
	truthRouters  = 200
	truthChannels = 500
	truthWide     = 10
	everyTenth    = 10
)

// measureTruth deploys many channels, switches a tenth of the routers off, and measures until every
// view is right: each channel, and each of its egress nodes, has the state that the routers'
// being on or off gives it, and the summary of alarms agrees. Then it switches them on again.
func (o *options) measureTruth(ctx context.Context, dir string) error {
	l, err := startLab(ctx, dir, truthRouters)
	if err != nil {
		return err
	}
	defer l.stop()
	small := *o
	small.routers = truthRouters
	if err := small.buildNetwork(ctx, l); err != nil {
		return err
	}
	members := make([][]int, truthChannels)
	if err := o.forEachParallel(truthChannels, func(k int) error {
		for i := range truthWide {
			members[k] = append(members[k], 1+(k*7+i*13)%truthRouters)
		}
		name := fmt.Sprintf("t%d", k)
		if err := l.addChannel(ctx, name, k); err != nil {
			return err
		}
		return l.deployChannel(ctx, name, members[k][0], members[k][1:])
	}); err != nil {
		return err
	}
	if err := l.awaitConvergence(ctx, truthRouters); err != nil {
		return err
	}
	tenth := func(i int) bool { return i%everyTenth == 3 }
	for _, step := range []struct {
		what, power string
		off         func(i int) bool
	}{{"off", "off", tenth}, {"on again", "on", func(int) bool { return false }}} {
		for i := 1; i <= truthRouters; i++ {
			if tenth(i) { // the same are switched on again
				if err := l.switchRouterPower(fmt.Sprintf("r%d", i), step.power); err != nil {
					return err
				}
			}
		}
		start := time.Now()
		known, err := l.awaitSessionStates(ctx, step.off)
		if err != nil {
			return err
		}
		after, asked, err := l.awaitChannelStates(ctx, members, step.off)
		if err != nil {
			return err
		}
		printResult(fmt.Sprintf(
			"%d channels, %d of %d routers %s",
			truthChannels,
			truthRouters/everyTenth,
			truthRouters,
			step.what,
		),
			"sessions known after %v, every channel right %v after that (asked for 5 s; one query of all took %v)",
			known.Sub(start).Round(10*time.Millisecond), after.Sub(known).Round(10*time.Millisecond), asked.Round(time.Millisecond))
	}
	return nil
}

// switchRouterPower switches a simulated router.
func (l *lab) switchRouterPower(name, state string) error {
	res, err := l.routers.control.Post(
		"http://lab/power?"+url.Values{
			"router": {name},
			"state":  {state},
		}.Encode(),
		"",
		nil,
	)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("power %s %s: %s", name, state, res.Status)
	}
	return nil
}

// truthLimit bounds how long a state may take to become right.
const truthLimit = 5 * time.Minute

// awaitSessionStates waits until the controller knows which sessions are up.
func (l *lab) awaitSessionStates(ctx context.Context, off func(i int) bool) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, truthLimit)
	defer cancel()
	for {
		var got struct {
			Router []struct {
				Node    string `json:"node-id"`
				Session string `json:"session"`
			} `json:"router"`
		}
		_, err := l.decodeRPC(ctx, "bier-service-api:reconcile", map[string]any{}, &got)
		if err != nil {
			return time.Time{}, err
		}
		wrong := 0
		for _, r := range got.Router {
			var i int
			_, _ = fmt.Sscanf(r.Node, "r%d", &i)
			if off(i) == (r.Session == "up") {
				wrong++
			}
		}
		if wrong == 0 {
			return time.Now(), nil
		}
	}
}

// between are the routers that packets pass from one router of the network to another, which is a tree: the parent of
// router i is i/2. It is worked out here, by hand, so that what must be right does not come from what is measured.
func between(from, to int) (pass []int) {
	up, down := from, to
	for up != down {
		if up > down {
			up /= 2
			pass = append(pass, up)
		} else {
			down /= 2
			pass = append(pass, down)
		}
	}
	pass = slices.DeleteFunc(pass, func(i int) bool { return i == from || i == to })
	slices.Sort(pass)
	return slices.Compact(pass)
}

// States that routers and channels must be in here.
const (
	stateApplied    = "applied"
	stateUnverified = "unverified"
)

// must is the state of a channel and, by router, those of its ingress, its egress nodes and the routers that only
// forward: what a router that is off holds is not known, and neither is whether packets come to those behind it.
func must(members []int, off func(i int) bool) (channel string, routers map[int]string) {
	known := func(all ...int) string {
		if slices.ContainsFunc(all, off) {
			return stateUnverified
		}
		return stateApplied
	}
	ingress := members[0]
	routers = map[int]string{ingress: known(ingress)}
	channel = routers[ingress]
	passed := map[int]bool{}
	for _, e := range members[1:] {
		way := between(ingress, e)
		routers[e] = known(append(way, e)...)
		if routers[e] != stateApplied {
			channel = stateUnverified
		}
		for _, i := range way {
			passed[i] = true
		}
	}
	for i := range passed {
		if !slices.Contains(members, i) {
			routers[i] = known(i)
		}
	}
	return channel, routers
}

// awaitChannelStates waits until all channels, and all routers in them, are in the state that they must be in.
func (l *lab) awaitChannelStates(
	ctx context.Context,
	members [][]int,
	off func(i int) bool,
) (at time.Time, asked time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, truthLimit)
	defer cancel()
	names := make([]string, len(members))
	for k := range members {
		names[k] = fmt.Sprintf("t%d", k)
	}
	for {
		var got struct {
			Channel []struct {
				Name       string `json:"name"`
				State      string `json:"state"`
				Deployment []struct {
					Node   string `json:"node-id"`
					State  string `json:"state"`
					Reason string `json:"reason"`
				} `json:"deployment"`
			} `json:"channel"`
		}
		if asked, err = l.decodeRPC(
			ctx,
			"bier-channel-api:query-channel",
			map[string]any{
				"topology-id":  "lab",
				"channel-name": names,
			},
			&got,
		); err != nil {
			return at, 0, err
		}
		wrong := len(members) - len(got.Channel)
		for _, c := range got.Channel {
			var k int
			_, err = fmt.Sscanf(c.Name, "t%d", &k)
			if err != nil || k >= len(members) {
				return at, 0, fmt.Errorf(
					"query-channel returned the channel %q, which was not asked for",
					c.Name,
				)
			}
			channel, routers := must(members[k], off)
			for _, d := range c.Deployment {
				var i int
				_, _ = fmt.Sscanf(d.Node, "r%d", &i)
				if d.State != routers[i] || d.State != stateApplied && d.Reason == "" {
					wrong++
				}
				delete(routers, i)
			}
			wrong += len(routers) // they are missing
			if c.State != channel {
				wrong++
			}
		}
		if wrong == 0 {
			alarms, err := l.callRPC(ctx, "bier-service-api:get-alarms", map[string]any{})
			if err != nil {
				return at, 0, err
			}
			for i := 1; i <= truthRouters; i++ {
				if off(i) != strings.Contains(alarms, fmt.Sprintf(`"router r%d"`, i)) {
					wrong++
				}
			}
		}
		if wrong == 0 {
			return time.Now(), asked, nil
		}
	}
}
