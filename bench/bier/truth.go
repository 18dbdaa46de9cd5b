package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
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

// truth deploys many channels, switches a tenth of the routers off, and measures until every
// view is right: each channel, and each of its egress nodes, has the state that the routers'
// being on or off gives it, and the summary of alarms agrees. Then it switches them on again.
func (o *options) truth(ctx context.Context, dir string) error {
	l, err := startLab(ctx, dir, truthRouters)
	if err != nil {
		return err
	}
	defer l.stop()
	small := *o
	small.routers = truthRouters
	if err := small.network(ctx, l); err != nil {
		return err
	}
	members := make([][]int, truthChannels)
	if err := o.each(truthChannels, func(k int) error {
		for i := range truthWide {
			members[k] = append(members[k], 1+(k*7+i*13)%truthRouters)
		}
		name := fmt.Sprintf("t%d", k)
		if err := l.add(ctx, name, k); err != nil {
			return err
		}
		return l.deploy(ctx, name, members[k][0], members[k][1:])
	}); err != nil {
		return err
	}
	if err := l.converge(ctx, truthRouters); err != nil {
		return err
	}
	tenth := func(i int) bool { return i%everyTenth == 3 }
	for _, step := range []struct {
		what, power string
		off         func(i int) bool
	}{{"off", "off", tenth}, {"on again", "on", func(int) bool { return false }}} {
		for i := 1; i <= truthRouters; i++ {
			if tenth(i) { // the same are switched on again
				if err := l.power(fmt.Sprintf("r%d", i), step.power); err != nil {
					return err
				}
			}
		}
		start := time.Now()
		known, err := l.sessions(ctx, step.off)
		if err != nil {
			return err
		}
		after, asked, err := l.right(ctx, members, step.off)
		if err != nil {
			return err
		}
		say(fmt.Sprintf("%d channels, %d of %d routers %s", truthChannels, truthRouters/everyTenth, truthRouters, step.what),
			"sessions known after %v, every channel right %v after that (asked for 5 s; one query of all took %v)",
			known.Sub(start).Round(10*time.Millisecond), after.Sub(known).Round(10*time.Millisecond), asked.Round(time.Millisecond))
	}
	return nil
}

// power switches a simulated router.
func (l *lab) power(name, state string) error {
	res, err := l.routers.control.Post("http://lab/power?"+url.Values{"router": {name}, "state": {state}}.Encode(), "", nil)
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

// sessions waits until the controller knows which sessions are up.
func (l *lab) sessions(ctx context.Context, off func(i int) bool) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, truthLimit)
	defer cancel()
	for {
		var got struct {
			Router []struct {
				Node    string `json:"node-id"`
				Session string `json:"session"`
			} `json:"router"`
		}
		if _, err := l.ask(ctx, "bier-service-api:reconcile", map[string]any{}, &got); err != nil {
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

// right waits until all channels are in the state that they must be in.
func (l *lab) right(ctx context.Context, members [][]int, off func(i int) bool) (at time.Time, asked time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, truthLimit)
	defer cancel()
	names := make([]string, len(members))
	for k := range members {
		names[k] = fmt.Sprintf("t%d", k)
	}
	someOff := false
	for i := 1; i <= truthRouters; i++ {
		someOff = someOff || off(i)
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
		if asked, err = l.ask(ctx, "bier-channel-api:query-channel", map[string]any{"topology-id": "lab", "channel-name": names}, &got); err != nil {
			return at, 0, err
		}
		wrong := len(members) - len(got.Channel)
		for _, c := range got.Channel {
			all := true
			for _, d := range c.Deployment {
				var i int
				_, _ = fmt.Sscanf(d.Node, "r%d", &i)
				all = all && d.State == "applied"
				// A router that is on may be behind one that is off: only with a reason, and only while some are off.
				if off(i) && d.State == "applied" || d.State != "applied" && (d.Reason == "" || !someOff) {
					wrong++
				}
			}
			if (c.State == "applied") != all {
				wrong++
			}
		}
		if wrong == 0 {
			alarms, err := l.post(ctx, "bier-service-api:get-alarms", map[string]any{})
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
