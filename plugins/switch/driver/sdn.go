package driver

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/writes"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/state"
	"ctl.internal/sdk/switchdriver"
)

// SDNSettings is what SDN needs switched off at switches.
type SDNSettings struct {
	STP       bool `json:"disable_stp"`
	BPDU      bool `json:"disable_bpdu_flooding"`
	Broadcast bool `json:"disable_broadcast_flooding"`
	Multicast bool `json:"disable_multicast_flooding"`
	Unknown   bool `json:"disable_unknown_flooding"`
	Learning  bool `json:"disable_learning"`
}

// Any reports whether anything is asked for.
func (s SDNSettings) Any() bool { return s != SDNSettings{} }

// settingNames are the settings besides spanning tree, which only a vendor's driver knows.
func (s SDNSettings) settingNames() (out []string) {
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

// SDNReport is what was done at a switch, one line a setting.
type SDNReport struct {
	Node     uint64      `json:"node"`
	Switch   string      `json:"switch"`
	At       time.Time   `json:"at"`
	Settings SDNSettings `json:"settings"`
	Dry      bool        `json:"dry,omitempty"` // nothing was sent
	Lines    []string    `json:"lines,omitempty"`
	Failure  string      `json:"failure,omitempty"`
}

// SDN applies the settings and keeps what came of it in the datastore. It is safe for
// concurrent use.
type SDN struct {
	drivers *Chooser
	do      func(context.Context, *switchdriver.Switch, writes.Operation) ([]string, error)
	set     SDNSettings
	log     *slog.Logger
	reports *state.Table[SDNReport]
	store   *state.Store
}

// NewSDN makes an SDN; Bind it before use. do has an operation carried out.
func NewSDN(
	d *Chooser,
	do func(context.Context, *switchdriver.Switch, writes.Operation) ([]string, error),
	s SDNSettings,
	log *slog.Logger,
) *SDN {
	return &SDN{
		drivers: d,
		do:      do,
		set:     s,
		log:     log,
		reports: state.NewTable[SDNReport](state.Private("sdn/")),
	}
}

// View is what the store follows for the SDN.
func (a *SDN) View() state.View { return a.reports }

// Bind gives the SDN the store, opened with its view.
func (a *SDN) Bind(s *state.Store) { a.store = s }

func nodeKey(node uint64) string {
	return mib.MAC(node).String()
}

// Done reports whether a switch has got the settings, as they are now, from whichever
// node; with dry, whether that was tried.
func (a *SDN) Done(node uint64, dry bool) bool {
	r, ok := a.reports.Get(a.store.Now(), nodeKey(node))
	return ok && r.Failure == "" && r.Settings == a.set && (dry || !r.Dry)
}

// Reports returns the latest report of each switch, in the order of their numbers.
func (a *SDN) Reports() (out []SDNReport) {
	for _, r := range a.reports.All(a.store.Now(), "") {
		out = append(out, r)
	}
	return out
}

// Apply applies the settings to a switch, or with dry reports what would be done.
func (a *SDN) Apply(ctx context.Context, sw *switchdriver.Switch, dry bool) SDNReport {
	r := SDNReport{
		Node:     sw.NodeId,
		Switch:   switchdriver.Label(sw),
		At:       time.Now(),
		Settings: a.set,
		Dry:      dry,
	}
	var err error
	if r.Lines, err = a.applySettings(ctx, sw, dry); err != nil {
		r.Failure = err.Error()
	}
	if _, e := a.store.Update(ctx, func(tx *state.Tx) error {
		if dry && a.Done(sw.NodeId, false) {
			return nil // what was really done is the report
		}
		return a.reports.Put(tx, nodeKey(sw.NodeId), r)
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

func (a *SDN) applySettings(
	ctx context.Context,
	sw *switchdriver.Switch,
	dry bool,
) (lines []string, err error) {
	_, _, err = a.drivers.Find(ctx, sw, "ApplySettings")
	switch {
	case err == nil:
		o := writes.Operation{
			What: "the settings for SDN",
			Request: &switchdriver.Settings{
				DryRun:                   dry,
				DisableStp:               a.set.STP,
				DisableBpduFlooding:      a.set.BPDU,
				DisableBroadcastFlooding: a.set.Broadcast,
				DisableMulticastFlooding: a.set.Multicast,
				DisableUnknownFlooding:   a.set.Unknown,
				DisableLearning:          a.set.Learning,
			},
		}
		if dry {
			return a.drivers.Perform(ctx, sw, &o)
		}
		return a.do(ctx, sw, o)
	case fault.KindOf(err) != fault.Unsupported:
		return nil, err
	}
	if a.set.STP {
		line, err := a.disableSTP(ctx, sw, dry)
		if err != nil {
			return lines, err
		}
		lines = append(lines, line)
	}
	for _, n := range a.set.settingNames() {
		lines = append(lines, n+": not switched off, no driver of this switch can")
	}
	return lines, nil
}

// disableSTP switches spanning tree off by whatever driver can.
func (a *SDN) disableSTP(ctx context.Context, sw *switchdriver.Switch, dry bool) (string, error) {
	const unable = "spanning tree: not switched off, no driver of this switch can"
	_, _, err := a.drivers.Find(ctx, sw, "WriteStp")
	if fault.KindOf(err) == fault.Unsupported && err != nil {
		return unable, nil
	}
	if err != nil {
		return "", err
	}
	if r, known, err := For[switchdriver.STPReader](ctx, a.drivers, sw, "ReadStp"); err == nil {
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
			return fmt.Sprintf(
				"spanning tree: would be switched off, %d ports take part",
				count,
			), nil
		}
	}
	if dry {
		return "spanning tree: would be switched off", nil
	}
	_, err = a.do(
		ctx,
		sw,
		writes.Operation{
			What:    "disabling spanning tree",
			Request: &pluginv1.WriteStpRequest{},
		},
	)
	return "spanning tree: switched off", err
}
