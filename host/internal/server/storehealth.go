package server

import (
	"context"
	"fmt"
	"strings"
	"time"

	"ctl.internal/host/internal/console/tables"
	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/open"
	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/logs"
)

// readyWait bounds how long /readyz waits for the datastore, and then for the members of
// its cluster.
const readyWait = time.Second

// storeReasons asks whether the datastore knows its newest state.
func (s *Server) storeReasons(ctx context.Context) []reason {
	wait, cancel := context.WithTimeout(ctx, readyWait)
	defer cancel()
	_, err := s.store.Barrier(wait)
	settings := s.loaded.Datastore
	switch {
	case err == nil && open.Lost(s.home, settings):
		return []reason{newReason(
			"store",
			"the store in "+s.home.Store()+" was removed while the controller runs",
			"stop the controller, put the store or a snapshot back, start it",
		)}
	case err == nil:
		return nil
	case settings.Shared:
		return []reason{clusterReason(settings, s.storeMembers(ctx), err)}
	}
	return []reason{newReason(
		"store",
		err.Error(),
		"look for the first error of org.ctl.datastore in "+s.home.Log("ctl.log"),
	)}
}

// storeMembers asks the members of the datastore's cluster; nil when there is none.
func (s *Server) storeMembers(ctx context.Context) []datastore.Member {
	c, ok := s.raw.(datastore.Clustered)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, readyWait)
	defer cancel()
	return c.Members(ctx)
}

// clusterReason says what a cluster lacks: members, a leader, or only time.
func clusterReason(settings home.Datastore, all []datastore.Member, cause error) reason {
	engine := settings.Engine
	var there, led, away []string
	for _, m := range all {
		switch {
		case m.Err != nil:
			away = append(away, m.Endpoint)
		case m.Led:
			led = append(led, m.Endpoint)
			fallthrough
		default:
			there = append(there, m.Endpoint)
		}
	}
	silent := ""
	if len(away) > 0 {
		silent = "; no answer from " + strings.Join(away, ", ")
	}
	switch most := len(all)/2 + 1; {
	case len(led) >= most:
		return newReason("store", fmt.Sprintf(
			"%d of %d members of the %s cluster answer and have a leader, but the newest state has not arrived here: %v%s",
			len(led),
			len(all),
			engine,
			cause,
			silent,
		),
			"wait some seconds, the controller goes on at another member by itself; if it stays so, look at the disks and the load of "+strings.Join(led, ", "))
	case len(there) >= most:
		return newReason("quorum", fmt.Sprintf(
			"%d of %d members of the %s cluster answer, but they have no leader%s",
			len(there),
			len(all),
			engine,
			silent,
		),
			"they are electing one, or do not reach each other: if it stays so, mend the network between "+strings.Join(there, ", "))
	case len(all) == 0:
		return newReason(
			"quorum",
			"the "+engine+" cluster does not answer: "+cause.Error(),
			"start the missing members of "+strings.Join(settings.Etcd.Endpoints, ", ")+" or mend the network to them; the controller goes on by itself",
		)
	}
	return newReason("quorum", fmt.Sprintf(
		"%d of %d members of the %s cluster answer, which is no majority: %v",
		len(there),
		len(all),
		engine,
		cause,
	),
		"start "+strings.Join(away, ", ")+" or mend the network to them; the controller goes on by itself")
}

// storeParts are the disks or members of the datastore, and what is wrong with each.
func (s *Server) storeParts(ctx context.Context) (out []tables.StorePart) {
	for _, m := range s.storeMembers(ctx) {
		p := tables.StorePart{
			Part:    m.Endpoint,
			State:   "follows " + m.Version,
			Problem: m.Note,
		}
		switch {
		case m.Err != nil:
			p.State, p.Problem = "away", "it does not answer: "+m.Err.Error()
		case m.Leads:
			p.State = "leads " + m.Version
		case !m.Led:
			p.State, p.Problem = "alone "+m.Version, "it knows no leader: it does not reach the others, or they are electing one"
		}
		if m.Watched {
			p.State += ", used"
		}
		out = append(out, p)
	}
	return append(out, s.diskParts()...)
}

// wentBack notes that the cluster of the datastore lost what it had acknowledged.
func (s *Server) wentBack(b datastore.Back) {
	s.back.Store(&b)
	s.storeMetrics.back.Inc()
	s.writeAudit(
		logs.AuditRecord{
			What: "datastore set back",
			Object: fmt.Sprintf(
				"the etcd cluster was set back to an older state: revisions up to %d no longer hold, its state was read again as of %d",
				b.From,
				b.To,
			),
			Outcome: "failed",
		},
		true,
	)
}
