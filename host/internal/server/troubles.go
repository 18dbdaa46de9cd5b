package server

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"ctl.internal/host/internal/console/tables"
	"ctl.internal/host/internal/lease"
	"ctl.internal/host/internal/logs"
	"ctl.internal/host/internal/plugin/topomirror"
	"ctl.internal/host/internal/troubles"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
)

const (
	// lookForTroubles is how often the controller looks for its own troubles while no plugin changes.
	lookForTroubles = 5 * time.Second
	// reportsWithin is how long after the start of the controller its plugins may take to report: so long the lists
	// that they gave to the process before are kept, with what people said about them.
	reportsWithin = time.Minute
	// reporterHost and reporterNetwork are the controller's own reporters: of this node, and of the topologies.
	reporterHost    = "controller"
	reporterNetwork = "topologies"
	// reporterPlugin begins the name of a reporter that is a plugin.
	reporterPlugin = "plugin "
	// troubleStream says that the list has changed.
	troubleStream = "troubles"
)

// newTroubles makes the list of troubles.
func (s *Server) newTroubles() *troubles.Registry {
	return troubles.New(troubles.Options{
		Store:  s.store,
		Node:   s.identity.ID,
		Living: s.isLiving,
		Now:    time.Now,
	})
}

// followTroubles follows what goes into the list.
func (s *Server) followTroubles(ctx context.Context) {
	if err := s.troubles.Load(); err != nil {
		s.log.Warn("what plugins of the process before have reported stays in the list of troubles", "error", err)
	}
	s.runInBackground(ctx, "troubles", s.troubles.Run)
	s.runInBackground(ctx, "troubles of this node", s.reportTroubles)
	s.runInBackground(ctx, "events of the troubles", s.publishTroubles)
}

// isLiving reports whether a node of the cluster runs.
func (s *Server) isLiving(node string) bool {
	return slices.ContainsFunc(s.roles.Members(), func(n lease.Node) bool { return n.ID == node })
}

// reportTroubles keeps the list of this node's troubles until ctx ends.
func (s *Server) reportTroubles(ctx context.Context) error {
	tick := time.NewTicker(lookForTroubles)
	defer tick.Stop()
	for {
		changed := s.plugins.Changed()
		s.noteReported(s.troubles.Report(ctx, reporterHost, s.findings(ctx)))
		s.noteReported(s.troubles.Maintain(ctx, s.isPluginOver))
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		case <-tick.C:
		}
	}
}

// takeTroubles takes the list of a plugin. It implements plugin.Options.Troubles.
func (s *Server) takeTroubles(ctx context.Context, plugin string, all []*pluginv1.Trouble) error {
	out := make([]troubles.Trouble, 0, len(all))
	for _, p := range all {
		t := troubles.Trouble{
			Kind:     p.Kind,
			Resource: p.Resource,
			Concerns: p.Concerns,
			Subject:  p.Subject,
			Warning:  p.Warning,
			Cause:    p.Cause,
			Remedy:   p.Remedy,
			Topology: p.Topology,
		}
		if p.Since > 0 {
			t.Since = time.Unix(0, p.Since).UTC().Truncate(time.Second)
		}
		for _, e := range p.Ends {
			t.Ends = append(t.Ends, troubles.End{Node: e.Node, Port: e.Port})
		}
		out = append(out, t)
	}
	return s.troubles.Report(ctx, reporterPlugin+plugin, out)
}

// isPluginOver reports whether a reporter is a plugin whose process has ended.
func (s *Server) isPluginOver(reporter string) bool {
	name, ok := strings.CutPrefix(reporter, reporterPlugin)
	if !ok || s.plugins.Reports(name) {
		return false
	}
	return time.Since(s.began) > reportsWithin || !s.plugins.AwaitsReport(name)
}

// noteReported logs that a list was not stored; it is shown on this node, and is stored at the next look.
func (s *Server) noteReported(err error) {
	if err != nil {
		s.log.Debug("the list of troubles was not stored", "error", err)
	}
}

// publishTroubles says on the stream that the list has changed.
func (s *Server) publishTroubles(ctx context.Context) error {
	for {
		changed := s.troubles.Changed()
		if s.bus.Wanted(troubleStream) {
			data, err := json.Marshal(map[string]any{
				systemModule + ":troubles-changed": map[string]string{"time": formatInstant(time.Now())},
			})
			if err != nil {
				return err
			}
			s.bus.Publish(troubleStream, "host", data)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
	}
}

// shareNetwork keeps the list of the troubles of all topologies, on the node that mirrors them.
func (s *Server) shareNetwork(ctx context.Context, l *losses, view *topomirror.View) {
	if s.troubles == nil || !view.Synced {
		return
	}
	seen := map[string]topomirror.Seen{}
	if of := s.topologiesSeen.Load(); of != nil {
		seen = *of
	}
	s.noteReported(s.troubles.Share(ctx, reporterNetwork, l.compare(view, seen)))
}

// lostBefore is what the node before, or this one before its restart, knew to be lost.
func (s *Server) lostBefore() *losses {
	keep := 24 * time.Hour
	if s.loaded != nil {
		keep = s.loaded.Troubles.KeepLost
	}
	var lost []troubles.Trouble
	if s.troubles != nil {
		var err error
		if lost, err = s.troubles.Shared(reporterNetwork); err != nil {
			s.log.Warn("the links and nodes that were lost before cannot be read", "error", err)
		}
	}
	l := newLosses(keep, time.Now, lost)
	for id, t := range s.storedTopologies() {
		l.before[id] = observe(t, "", 0)
	}
	return l
}

// troublesFor are the troubles that a caller may know of: those of which it may read each resource.
func (s *Server) troublesFor(ctx context.Context) ([]troubles.Entry, error) {
	all, err := s.troubles.List()
	if err != nil {
		return nil, err
	}
	who, _ := caller.From(ctx)
	known := map[string]bool{}
	may := func(path string) bool {
		ok, asked := known[path]
		if !asked {
			ok, _ = s.aaa.MayRead(ctx, who, "/rests/data"+path)
			known[path] = ok
		}
		return ok
	}
	return slices.DeleteFunc(all, func(e troubles.Entry) bool {
		if e.Restricted && !who.HasRole("admin") {
			return true
		}
		for _, path := range append([]string{e.Resource}, e.Concerns...) {
			if strings.HasPrefix(path, "/") && !may(path) {
				return true
			}
		}
		return false
	}), nil
}

type (
	troubleList struct {
		Open    int             `json:"open"`
		Trouble []shownTrouble  `json:"trouble,omitempty"`
		Source  []troubleSource `json:"source,omitempty"`
	}
	shownTrouble struct {
		ID           string         `json:"id"`
		Kind         string         `json:"kind"`
		Severity     string         `json:"severity"`
		Resource     string         `json:"resource"`
		Subject      string         `json:"subject"`
		Since        string         `json:"since"`
		Cause        string         `json:"cause"`
		Remedy       string         `json:"remedy,omitempty"`
		Reporter     string         `json:"reporter"`
		Node         string         `json:"node,omitempty"`
		Topology     string         `json:"topology,omitempty"`
		End          []troubles.End `json:"end,omitempty"`
		Acknowledged *shownMark     `json:"acknowledged,omitempty"`
		Silenced     *shownMark     `json:"silenced,omitempty"`
	}
	shownMark struct {
		By    string `json:"by"`
		At    string `json:"at"`
		Note  string `json:"note,omitempty"`
		Until string `json:"until,omitempty"`
	}
	troubleSource struct {
		Name   string `json:"name"`
		Plugin string `json:"plugin,omitempty"`
		State  string `json:"state"`
		Heard  string `json:"heard,omitempty"`
	}
	markInput struct {
		ID       string `json:"id"`
		Note     string `json:"note"`
		Minutes  int    `json:"minutes"`
		Withdraw bool   `json:"withdraw"`
	}
)

// getTroubles is the list, with the sources that were asked.
func (s *Server) getTroubles(ctx context.Context, _ struct{}) (troubleList, error) {
	all, err := s.troublesFor(ctx)
	if err != nil {
		return troubleList{}, err
	}
	out := troubleList{Source: s.troubleSources(ctx)}
	for i := range all {
		if all[i].Counts() {
			out.Open++
		}
		out.Trouble = append(out.Trouble, showTrouble(&all[i]))
	}
	return out, nil
}

func showTrouble(e *troubles.Entry) shownTrouble {
	out := shownTrouble{
		ID:           e.ID,
		Kind:         e.Kind,
		Severity:     "error",
		Resource:     e.Resource,
		Subject:      logs.Printable(e.Subject),
		Since:        formatInstant(e.Since),
		Cause:        logs.Printable(e.Cause),
		Remedy:       logs.Printable(e.Remedy),
		Reporter:     e.Reporter,
		Topology:     e.Topology,
		End:          e.Ends,
		Acknowledged: showMark(e.Acknowledged, time.Time{}),
		Silenced:     showMark(e.Silenced, e.Until),
	}
	if e.Warning {
		out.Severity = "warning"
	}
	if out.Subject == "" {
		out.Subject = logs.Printable(e.Resource)
	}
	if e.Node != troubles.AllNodes {
		out.Node = e.Node
	}
	return out
}

func showMark(m *troubles.Mark, until time.Time) *shownMark {
	if m == nil {
		return nil
	}
	return &shownMark{m.By, formatInstant(m.At), logs.Printable(m.Note), formatInstant(until)}
}

// troubleSources are the topologies that the caller may read, with when each was observed last.
func (s *Server) troubleSources(ctx context.Context) []troubleSource {
	who, _ := caller.From(ctx)
	out := []troubleSource{{
		Name:  reporterHost,
		State: "observing",
		Heard: formatInstant(time.Now()),
	}}
	for _, t := range s.storedSources() {
		if may, _ := s.aaa.MayRead(ctx, who, "/rests/data"+topologyPath(t.Name)); may {
			out = append(out, t)
		}
	}
	return out
}

// acknowledgeTrouble says that somebody knows of a trouble.
func (s *Server) acknowledgeTrouble(ctx context.Context, in markInput) (struct{}, error) {
	by, err := s.markFor(ctx, in)
	if err != nil {
		return struct{}{}, err
	}
	return struct{}{}, s.troubles.Acknowledge(ctx, in.ID, by)
}

// silenceTrouble keeps a trouble out of all counts for a while.
func (s *Server) silenceTrouble(ctx context.Context, in markInput) (struct{}, error) {
	by, err := s.markFor(ctx, in)
	if err != nil {
		return struct{}{}, err
	}
	until := time.Now().UTC().Truncate(time.Second).Add(time.Duration(in.Minutes) * time.Minute)
	return struct{}{}, s.troubles.Silence(ctx, in.ID, by, until)
}

// markFor is the mark of the caller, nil to take one back. Who may not read a trouble may not mark it.
func (s *Server) markFor(ctx context.Context, in markInput) (*troubles.Mark, error) {
	who, _ := caller.From(ctx)
	if !who.HasRole("admin") && !who.HasRole("operator") {
		return nil, fault.New(fault.Denied, "this needs the role admin or operator")
	}
	all, err := s.troublesFor(ctx)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(all, func(e troubles.Entry) bool { return e.ID == in.ID }) {
		return nil, fault.New(fault.NotFound, "there is no trouble %q; it may be over: ctl now lists them", in.ID)
	}
	if in.Withdraw {
		return nil, nil
	}
	return &troubles.Mark{
		By:   who.User + "@" + who.Domain,
		At:   time.Now().UTC().Truncate(time.Second),
		Note: in.Note,
	}, nil
}

// troubleMetrics count the troubles by kind and by whether somebody knows of them.
type troubleMetrics struct{ s *Server }

// Describe implements prometheus.Collector.
func (troubleMetrics) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (m troubleMetrics) Collect(out chan<- prometheus.Metric) {
	if m.s.troubles == nil {
		return
	}
	all, err := m.s.troubles.List()
	if err != nil {
		return
	}
	counts := map[[2]string]int{}
	for i := range all {
		state := "open"
		switch {
		case all[i].Silenced != nil:
			state = "silenced"
		case all[i].Acknowledged != nil:
			state = "acknowledged"
		}
		counts[[2]string{all[i].Kind, state}]++
	}
	desc := prometheus.NewDesc("ctl_troubles",
		"Troubles by kind; state: open, acknowledged or silenced. A kind without troubles is absent.",
		[]string{"kind", "state"}, nil)
	for _, k := range slices.SortedFunc(maps.Keys(counts), func(a, b [2]string) int {
		return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
	}) {
		out <- prometheus.MustNewConstMetric(
			desc,
			prometheus.GaugeValue,
			float64(counts[k]),
			k[0],
			k[1],
		)
	}
}

// nowTable is the list for the console.
func (s *Server) nowTable() tables.Now {
	return tables.Now{
		Troubles: s.troubleRows,
		Acknowledge: func(ctx context.Context, id, note string, withdraw bool) error {
			_, err := s.acknowledgeTrouble(ctx, markInput{ID: id, Note: note, Withdraw: withdraw})
			return err
		},
		Silence: func(ctx context.Context, id, note string, t time.Duration, withdraw bool) error {
			_, err := s.silenceTrouble(ctx, markInput{
				ID:       id,
				Note:     note,
				Minutes:  int(t.Minutes()),
				Withdraw: withdraw,
			})
			return err
		},
	}
}

// troubleRows are the rows of system:now.
func (s *Server) troubleRows(ctx context.Context) (out []tables.Trouble, err error) {
	all, err := s.troublesFor(ctx)
	for i := range all {
		t := showTrouble(&all[i])
		state := "open"
		switch {
		case t.Silenced != nil:
			state = "silenced by " + t.Silenced.By + " until " + t.Silenced.Until
		case t.Acknowledged != nil:
			state = "acknowledged by " + t.Acknowledged.By
		}
		out = append(out, tables.Trouble{
			ID:       t.ID,
			Severity: t.Severity,
			Kind:     t.Kind,
			Subject:  t.Subject,
			Cause:    t.Cause,
			Remedy:   t.Remedy,
			Since:    all[i].Since,
			State:    state,
			Open:     all[i].Counts(),
			Own:      t.Reporter == reporterHost,
		})
	}
	return out, err
}
