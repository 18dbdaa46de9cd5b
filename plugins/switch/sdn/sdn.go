package sdn

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/mibdriver"
	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/state"
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
	Node     uint64    `json:"node"`
	Switch   string    `json:"switch"`
	At       time.Time `json:"at"`
	Settings Settings  `json:"settings"`
	Dry      bool      `json:"dry,omitempty"` // nothing was sent
	Lines    []string  `json:"lines,omitempty"`
	Failure  string    `json:"failure,omitempty"`
}

// Applier applies settings and keeps what came of it in the datastore. It is safe for
// concurrent use.
type Applier struct {
	drivers *driver.Chooser
	do      func(context.Context, *switchdriver.Switch, writes.Operation) ([]string, error)
	set     Settings
	log     *slog.Logger
	reports *state.Table[Report]
	store   *state.Store
}

// New makes an Applier; Bind it before use. do has an operation carried out.
func New(d *driver.Chooser, do func(context.Context, *switchdriver.Switch, writes.Operation) ([]string, error), s Settings, log *slog.Logger) *Applier {
	return &Applier{drivers: d, do: do, set: s, log: log, reports: state.NewTable[Report](state.Private("sdn/"))}
}

// View is what the store follows for the Applier.
func (a *Applier) View() state.View { return a.reports }

// Bind gives the Applier the store, opened with its view.
func (a *Applier) Bind(s *state.Store) { a.store = s }

func key(node uint64) string { return mib.MAC(node).String() }

// Settings returns what is to be switched off.
func (a *Applier) Settings() Settings { return a.set }

// Done reports whether a switch has got the settings, as they are now, from whichever
// node; with dry, whether that was tried.
func (a *Applier) Done(node uint64, dry bool) bool {
	r, ok := a.reports.Get(a.store.Now(), key(node))
	return ok && r.Failure == "" && r.Settings == a.set && (dry || !r.Dry)
}

// Reports returns the latest report of each switch, in the order of their numbers.
func (a *Applier) Reports() (out []Report) {
	for _, r := range a.reports.All(a.store.Now(), "") {
		out = append(out, r)
	}
	return out
}

// Apply applies the settings to a switch, or with dry tells what would be done.
func (a *Applier) Apply(ctx context.Context, sw *switchdriver.Switch, dry bool) Report {
	r := Report{Node: sw.NodeId, Switch: mibdriver.Name(sw), At: time.Now(), Settings: a.set, Dry: dry}
	var err error
	if r.Lines, err = a.apply(ctx, sw, dry); err != nil {
		r.Failure = err.Error()
	}
	if _, e := a.store.Update(ctx, func(tx *state.Tx) error {
		if dry && a.Done(sw.NodeId, false) {
			return nil // what was really done is the report
		}
		return a.reports.Put(tx, key(sw.NodeId), r)
	}); e != nil {
		a.log.Warn("the report of the settings for SDN is not kept", "switch", r.Switch, "err", e)
	}
	if err != nil {
		a.log.Warn("the settings for SDN are not applied", "switch", r.Switch, "err", err)
	} else {
		a.log.Info("settings for SDN", "switch", r.Switch, "dry", dry, "report", r.Lines)
	}
	return r
}

func (a *Applier) apply(ctx context.Context, sw *switchdriver.Switch, dry bool) (lines []string, err error) {
	d, known, err := driver.For[switchdriver.SettingsApplier](ctx, a.drivers, sw, "ApplySettings")
	switch {
	case err == nil:
		s := &switchdriver.Settings{DisableStp: a.set.STP, DisableBpduFlooding: a.set.BPDU, DisableBroadcastFlooding: a.set.Broadcast,
			DisableMulticastFlooding: a.set.Multicast, DisableUnknownFlooding: a.set.Unknown, DisableLearning: a.set.Learning}
		if !dry {
			return a.do(ctx, sw, writes.Operation{Name: "ApplySettings", What: "the settings for SDN", Settings: s})
		}
		s.Switch, s.DryRun = known, true
		return d.ApplySettings(ctx, s)
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
	_, _, err := driver.For[switchdriver.STPWriter](ctx, a.drivers, sw, "WriteStp")
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
	_, err = a.do(ctx, sw, writes.Operation{Name: "WriteStp", What: "disabling spanning tree"})
	return "spanning tree: switched off", err
}
