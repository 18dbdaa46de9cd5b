package server

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/plugin/hostsvc"
	"ctl.internal/host/internal/plugin/topomirror"
	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

const topologyTree = "/network-topology:network-topology/topology="

// topologyRole is held by the one node that writes the topologies into the tree, which
// all nodes read.
const topologyRole = "topology-mirror"

// mirrorTopologies keeps the operational tree network-topology equal to what the
// sources of topology say, on one node at a time.
func (s *Server) mirrorTopologies(ctx context.Context) error {
	for {
		term, err := s.roles.Hold(ctx, topologyRole, "host")
		if err != nil {
			return err
		}
		s.mirrorFor(ctx, term)
		term.Release()
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// mirrorFor mirrors for one term of the role.
func (s *Server) mirrorFor(ctx context.Context, term hostsvc.Term) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	mirror := topomirror.Start(s.plugins, s.registry.Logger("org.ctl.topology"))
	defer mirror.Close()
	lost := s.lostBefore()
	p := s.newPublishing(s.mirroredTopologies(ctx))
	defer s.topologiesSeen.Store(nil)
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		changed := mirror.Changed()
		view := mirror.View()
		again := p.publishView(ctx, view)
		s.shareNetwork(ctx, lost, view)
		for renewed := true; renewed; {
			select {
			case <-ctx.Done():
				return
			case <-term.Lost():
				return
			case <-term.Renewed():
			case <-again:
				renewed = false
			case <-look.C: // for sources that fall silent
				renewed = false
			case <-changed:
				renewed = false
			}
		}
	}
}

const (
	// publishTime bounds the writing of a topology, which may have some hundred thousand ports.
	publishTime = 2 * time.Minute
	// lateAfter is when one that is being written counts as behind.
	lateAfter = 10 * time.Second
	// lookEvery is how often the sources are looked at while nothing changes.
	lookEvery = 5 * time.Second
	// noteEvery is how much the time of an observation in the tree may be behind, because each
	// is a write that followers hear of.
	noteEvery = 30 * time.Second
	// publishAgain is the pause after a topology could not be written.
	publishAgain = 2 * time.Second
)

// publishing writes the views of sources into the operational tree, each as one change.
type publishing struct {
	s       *Server
	tree    *tree.Tree
	schema  func() *yang.Set
	written map[string]publication // by topology-id
	pulses  map[string]*pulse
}

// publication is what the tree has of a topology; version 0: it is not known what.
type publication struct {
	version uint64
	seen    topomirror.Seen
}

func (s *Server) newPublishing(there map[string]publication) *publishing {
	store := datastore.Bound(s.raw, publishTime)
	return &publishing{
		s:       s,
		written: there,
		pulses:  map[string]*pulse{},
		schema:  func() *yang.Set { return s.catalog.Installed().Schema },
		tree: &tree.Tree{
			Store:    store,
			NS:       tree.OperationalNamespace,
			Volatile: true,
			Now:      time.Now,
			Limit:    publishTime,
		},
	}
}

// publishView writes what is different in a view. The channel says when to try again what could
// not be written; nil: everything was.
func (p *publishing) publishView(
	ctx context.Context,
	view *topomirror.View,
) (again <-chan time.Time) {
	failed := false
	for _, id := range slices.Sorted(maps.Keys(p.written)) {
		// What an earlier holder wrote stays until the sources have been heard.
		_, there := view.Topologies[id]
		if view.Synced && !there {
			failed = !p.setTopology(ctx, id, "", nil) || failed
			delete(p.pulses, id)
		}
	}
	for id := range p.s.lateTopologies() {
		_, there := view.Topologies[id]
		_, known := p.written[id]
		if view.Synced && !there && !known { // its source is gone before it was written
			p.s.noteBehind(ctx, id, nil)
		}
	}
	seen := map[string]topomirror.Seen{}
	defer func() { p.s.topologiesSeen.Store(&seen) }()
	for id, t := range view.Topologies {
		now := publication{view.Versions[id], p.seenState(id, t.Observed, view)}
		seen[id] = now.seen
		was, known := p.written[id]
		switch {
		case !known || was.version != now.version:
			if !p.setTopology(ctx, id, view.Sources[id], view.Topology(id, now.seen)) {
				failed = true
				continue
			}
		case was.seen.State != now.seen.State || now.seen.Observed.Sub(was.seen.Observed) >= noteEvery:
			if err := p.noteSeen(ctx, id, now.seen); err != nil {
				failed = failed || ctx.Err() == nil
				continue
			}
		default:
			continue
		}
		p.written[id] = now
	}
	if failed {
		return time.After(publishAgain)
	}
	return nil
}

// setTopology writes a topology, or removes it, and says while it is behind that it is.
func (p *publishing) setTopology(ctx context.Context, id, plugin string, text []byte) bool {
	began := time.Now()
	late := time.AfterFunc(lateAfter, func() {
		p.s.noteBehind(ctx, id, &lateTopology{plugin, began, "its newest state is being written"})
	})
	err := p.tree.Set(ctx, p.schema(), topologyTree+tree.EscapeKey(id), text)
	late.Stop()
	switch {
	case err == nil:
		if text == nil {
			delete(p.written, id)
		}
		p.s.noteBehind(ctx, id, nil)
		return true
	case ctx.Err() == nil:
		p.s.log.Error(
			"a topology cannot be shown in the operational tree; it will be tried again",
			"topology",
			id,
			"error",
			err,
		)
		p.s.noteBehind(
			ctx,
			id,
			&lateTopology{plugin, began, "its newest state cannot be written: " + err.Error()},
		)
	}
	return false
}

// seenState says who observes a topology and when it did last.
func (p *publishing) seenState(
	id string,
	observed time.Time,
	view *topomirror.View,
) topomirror.Seen {
	of := p.pulses[id]
	if of == nil {
		of = &pulse{}
		p.pulses[id] = of
	}
	now := p.tree.Now()
	of.noteObserved(observed, now)
	seen := topomirror.Seen{
		Source:   view.Sources[id],
		State:    "observing",
		Observed: observed,
	}
	switch {
	case !view.Running[seen.Source]:
		seen.State = "stopped"
	case of.isSilent(now):
		seen.State = "silent"
	}
	return seen
}

// noteSeen writes when a topology was observed, and the state of its source.
func (p *publishing) noteSeen(ctx context.Context, id string, seen topomirror.Seen) error {
	at := topologyTree + tree.EscapeKey(id) + "/ctl-topology:"
	var edits []tree.TextEdit
	for name, value := range map[string]string{
		"source":       seen.Source,
		"source-state": seen.State,
		"observed":     topomirror.Instant(seen.Observed),
	} {
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		edits = append(edits, tree.TextEdit{
			Path:   at + name,
			Value:  text,
			Delete: value == "",
		})
	}
	return p.tree.Update(ctx, p.schema(), func(d *tree.Draft) error {
		return d.ApplyText(edits)
	})
}

// pulse is how often a source observes. Its times are of this process's clock, but for those
// of the observations, which are compared with each other only.
type pulse struct {
	last  time.Time       // the newest observation
	heard time.Time       // when it came
	gaps  []time.Duration // between the newest ones
}

const (
	// gapsKept are the observations that say how often a source looks, besides one.
	gapsKept = 16
	// leastSilence is after what time, at the earliest, a source counts as silent, and firstSilence is that of a source
	// that has observed once only, so that it is not known how often it does.
	leastSilence = time.Minute
	firstSilence = 10 * time.Minute
)

func (p *pulse) noteObserved(observed, now time.Time) {
	if !observed.After(p.last) {
		return
	}
	if !p.last.IsZero() {
		p.gaps = append(p.gaps, now.Sub(p.heard))
		p.gaps = p.gaps[max(0, len(p.gaps)-gapsKept):]
	}
	p.last, p.heard = observed, now
}

// isSilent reports whether nothing was observed for three times the longest time that it took.
func (p *pulse) isSilent(now time.Time) bool {
	silence := now.Sub(p.heard)
	if len(p.gaps) == 0 {
		return !p.last.IsZero() && silence > firstSilence
	}
	return silence > max(leastSilence, 3*slices.Max(p.gaps))
}

// mirroredTopologies returns the topologies that the node before has written: what is in
// them is not known, so each is written again once.
func (s *Server) mirroredTopologies(ctx context.Context) map[string]publication {
	out := map[string]publication{}
	err := s.store.View(ctx, func(sn datastore.Snapshot) error {
		for e, err := range sn.Range(
			tree.OperationalNamespace,
			datastore.RangeOptions{Prefix: topologyTree},
		) {
			if err != nil {
				return err
			}
			var t struct {
				Provided bool `json:"server-provided"`
			}
			key := strings.TrimPrefix(e.Key, topologyTree)
			if strings.Contains(key, "/") || json.Unmarshal(e.Value, &t) != nil || !t.Provided {
				continue
			}
			if id, err := url.PathUnescape(key); err == nil {
				out[id] = publication{}
			}
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		s.log.Warn(
			"topologies that are not there any more may stay in the operational tree",
			"error",
			err,
		)
	}
	return out
}

// lateNamespace is where the topologies are listed that are behind their sources, by id, so
// that every node knows.
const lateNamespace = "topology-late"

// lateTopology says why a topology in the operational tree is not what its source has.
type lateTopology struct {
	Plugin string    `json:"plugin"`
	Since  time.Time `json:"since"`
	Reason string    `json:"reason"`
}

// noteBehind notes that a topology is behind, nil: that it is not.
func (s *Server) noteBehind(ctx context.Context, id string, late *lateTopology) {
	was, known := s.lateTopologies()[id]
	var op datastore.Op
	switch {
	case late == nil && !known || late != nil && known && was.Reason == late.Reason:
		return
	case late == nil:
		op = datastore.Delete(lateNamespace, id)
	default:
		if known {
			late.Since = was.Since
		}
		text, err := json.Marshal(late)
		if err != nil {
			return
		}
		op = datastore.Put(lateNamespace, id, text)
	}
	_, err := s.store.Commit(ctx, datastore.Txn{
		Ops:      []datastore.Op{op},
		Volatile: true,
	})
	if err != nil && ctx.Err() == nil {
		s.log.Warn(
			"it could not be noted whether a topology is behind its source",
			"topology",
			id,
			"error",
			err,
		)
	}
}

// lateTopologies are those that are behind, as this node knows.
func (s *Server) lateTopologies() map[string]lateTopology {
	out := map[string]lateTopology{}
	_, _ = s.store.Local(func(sn datastore.Snapshot) error {
		for e, err := range sn.Range(lateNamespace, datastore.RangeOptions{Shared: true}) {
			var l lateTopology
			if err == nil && json.Unmarshal(e.Value, &l) == nil {
				out[e.Key] = l
			}
		}
		return nil
	})
	return out
}

// sourceBehind says what of a plugin's topologies is behind, for its state; "" if nothing.
func (s *Server) sourceBehind(plugin string) string {
	all := s.lateTopologies()
	for _, id := range slices.Sorted(maps.Keys(all)) {
		if l := all[id]; l.Plugin == plugin {
			return fmt.Sprintf(
				"the topology %s in the operational tree is behind since %s: %s",
				id,
				l.Since.UTC().Format(time.RFC3339),
				l.Reason,
			)
		}
	}
	return ""
}

// checkCurrent refuses a read of the operational tree at a path where it is behind its source.
func (s *Server) checkCurrent(ctx context.Context, path string) error {
	if !strings.HasPrefix(topologyTree, path) && !strings.HasPrefix(path, topologyTree) ||
		datastore.AsksLocal(ctx) {
		return nil
	}
	for id, l := range s.lateTopologies() {
		at := topologyTree + tree.EscapeKey(id)
		if isWithinPath(path, at) || isWithinPath(at, path) {
			return fault.New(fault.Unavailable, "the topology %s is behind its source, plugin %s, since %s: %s. What is stored of it is answered with the header %s: local",
				id, l.Plugin, l.Since.UTC().Format(time.RFC3339), l.Reason, readHeader)
		}
	}
	return nil
}

// isWithinPath reports whether a path leads to what another one leads to, or below it.
func isWithinPath(path, above string) bool {
	rest, ok := strings.CutPrefix(path, above)
	return ok && (rest == "" || rest[0] == '/' || rest[0] == '=')
}

// topologyMetrics say which topologies are behind, and of what age they are.
type topologyMetrics struct{ s *Server }

// maxTopologySeries bounds the series of each metric of topologies, whose number sources choose.
const maxTopologySeries = 1000

// Describe implements prometheus.Collector.
func (topologyMetrics) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (m topologyMetrics) Collect(out chan<- prometheus.Metric) {
	behind := prometheus.NewDesc("ctl_topology_behind_seconds",
		"For how long the operational tree has not had the newest state of a topology's source; absent: it has.",
		[]string{"topology", "plugin"}, nil)
	late := m.s.lateTopologies()
	for _, id := range firstKeys(late) {
		out <- prometheus.MustNewConstMetric(
			behind,
			prometheus.GaugeValue,
			time.Since(late[id].Since).Seconds(),
			id,
			late[id].Plugin,
		)
	}
	seen := m.s.topologiesSeen.Load()
	if seen == nil {
		return // another node writes the topologies
	}
	observed := prometheus.NewDesc("ctl_topology_observed_timestamp_seconds",
		"When the source of a topology observed it last; state: observing, silent or stopped. Of the node that writes the topologies.",
		[]string{"topology", "plugin", "state"}, nil)
	for _, id := range firstKeys(*seen) {
		t := (*seen)[id]
		if !t.Observed.IsZero() {
			out <- prometheus.MustNewConstMetric(
				observed,
				prometheus.GaugeValue,
				float64(t.Observed.UnixMilli())/1000,
				id,
				t.Source,
				t.State,
			)
		}
	}
}

// firstKeys are the keys of a map in order, as many as a metric may have.
func firstKeys[T any](of map[string]T) []string {
	all := slices.Sorted(maps.Keys(of))
	return all[:min(len(all), maxTopologySeries)]
}

// topologiesOf are the topologies in the operational tree that a plugin observes. Of each topology one key is read.
func (s *Server) topologiesOf(ctx context.Context, plugin string) (ids []string, err error) {
	err = s.store.View(ctx, func(sn datastore.Snapshot) error {
		for at := topologyTree; ; {
			next, err := firstAfter(sn, at)
			if err != nil || next == nil {
				return err
			}
			key, _, below := strings.Cut(strings.TrimPrefix(next.Key, topologyTree), "/")
			if at = next.Key; below {
				at = topologyTree + key + "/\xff" // behind all that is in it
				continue
			}
			var t struct {
				Source string `json:"ctl-topology:source"`
			}
			id, err := url.PathUnescape(key)
			if err == nil && json.Unmarshal(next.Value, &t) == nil && t.Source == plugin {
				ids = append(ids, id)
			}
		}
	})
	return ids, err
}

// firstAfter is the first entry of the operational tree's topologies after a key, nil if there is none.
func firstAfter(sn datastore.Snapshot, key string) (*datastore.Entry, error) {
	for e, err := range sn.Range(
		tree.OperationalNamespace,
		datastore.RangeOptions{
			Prefix: topologyTree,
			After:  key,
			Limit:  1,
		},
	) {
		return &e, err
	}
	return nil, nil
}
