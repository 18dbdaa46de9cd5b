package sdn

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mibdriver"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// Settings is what is to be switched off.
type Settings struct{ STP, BPDU, Broadcast, Multicast, Unknown, Learning bool }

// Any reports whether anything is asked for.
func (s Settings) Any() bool { return s != Settings{} }

// names are the settings besides spanning tree, which only a vendor's driver knows.
func (s Settings) names() (out []string) {
	for _, n := range []struct {
		on   bool
		text string
	}{{s.BPDU, "flooding of BPDUs"}, {s.Broadcast, "flooding of broadcasts"}, {s.Multicast, "flooding of multicasts"},
		{s.Unknown, "flooding of unknown addresses"}, {s.Learning, "learning of addresses"}} {
		if n.on {
			out = append(out, n.text)
		}
	}
	return out
}

// Report is what was done at a switch, one line a setting.
type Report struct {
	Node   uint64
	Switch string
	At     time.Time
	Dry    bool // nothing was sent
	Lines  []string
	Err    error
}

// Applier applies settings and remembers what came of it. It is safe for concurrent use.
type Applier struct {
	drivers *driver.Chooser
	set     Settings
	log     *slog.Logger

	mu   sync.Mutex
	last map[uint64]Report
}

// New makes an Applier.
func New(d *driver.Chooser, s Settings, log *slog.Logger) *Applier {
	return &Applier{drivers: d, set: s, log: log, last: map[uint64]Report{}}
}

// Settings returns what is to be switched off.
func (a *Applier) Settings() Settings { return a.set }

// Done reports whether a switch has got the settings since the start.
func (a *Applier) Done(node uint64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	r, ok := a.last[node]
	return ok && r.Err == nil
}

// Reports returns the latest report of each switch, in the order of their numbers.
func (a *Applier) Reports() []Report {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := make([]Report, 0, len(a.last))
	for _, r := range a.last {
		out = append(out, r)
	}
	slices.SortFunc(out, func(x, y Report) int { return int(int64(x.Node) - int64(y.Node)) })
	return out
}

// Apply applies the settings to a switch, or with dry tells what would be done.
func (a *Applier) Apply(ctx context.Context, sw *switchdriver.Switch, dry bool) Report {
	r := Report{Node: sw.NodeId, Switch: mibdriver.Name(sw), At: time.Now(), Dry: dry}
	r.Lines, r.Err = a.apply(ctx, sw, dry)
	a.mu.Lock()
	a.last[sw.NodeId] = r
	a.mu.Unlock()
	if r.Err != nil {
		a.log.Warn("the settings for SDN are not applied", "switch", r.Switch, "err", r.Err)
	} else {
		a.log.Info("settings for SDN", "switch", r.Switch, "dry", dry, "report", r.Lines)
	}
	return r
}

func (a *Applier) apply(ctx context.Context, sw *switchdriver.Switch, dry bool) (lines []string, err error) {
	d, known, err := driver.For[switchdriver.SettingsApplier](ctx, a.drivers, sw, "ApplySettings")
	switch {
	case err == nil:
		s := &switchdriver.Settings{Switch: known, DisableStp: a.set.STP, DisableBpduFlooding: a.set.BPDU, DisableBroadcastFlooding: a.set.Broadcast,
			DisableMulticastFlooding: a.set.Multicast, DisableUnknownFlooding: a.set.Unknown, DisableLearning: a.set.Learning, DryRun: dry}
		do := func(ctx context.Context) (err error) { lines, err = d.ApplySettings(ctx, s); return err }
		if dry {
			err = do(ctx)
		} else {
			err = a.drivers.Change(ctx, sw, do)
		}
		return lines, err
	case fault.KindOf(err) != fault.Unsupported:
		return nil, err
	}
	if a.set.STP {
		line, err := a.stp(ctx, sw, dry)
		if err != nil {
			return lines, err
		}
		lines = append(lines, line)
	}
	for _, n := range a.set.names() {
		lines = append(lines, n+": not switched off, no driver of this switch can")
	}
	return lines, nil
}

// stp switches spanning tree off by whatever driver can.
func (a *Applier) stp(ctx context.Context, sw *switchdriver.Switch, dry bool) (string, error) {
	const unable = "spanning tree: not switched off, no driver of this switch can"
	w, known, err := driver.For[switchdriver.STPWriter](ctx, a.drivers, sw, "WriteStp")
	if fault.KindOf(err) == fault.Unsupported && err != nil {
		return unable, nil
	}
	if err != nil {
		return "", err
	}
	if r, known, err := driver.For[switchdriver.STPReader](ctx, a.drivers, sw, "ReadStp"); err == nil {
		ports, on, err := r.ReadSTP(ctx, known, 0)
		switch {
		case err != nil && fault.KindOf(err) == fault.Unsupported:
			return unable, nil
		case err != nil:
			return "", err
		case !on:
			return "spanning tree: is off", nil
		case dry:
			count := 0
			for _, p := range ports {
				if p.Enabled {
					count++
				}
			}
			return fmt.Sprintf("spanning tree: would be switched off, %d ports take part", count), nil
		}
	}
	if dry {
		return "spanning tree: would be switched off", nil
	}
	err = a.drivers.Change(ctx, sw, func(ctx context.Context) error { return w.WriteSTP(ctx, known, 0, false) })
	return "spanning tree: switched off", err
}
