package service

import (
	"strings"
	"time"

	"ctl.internal/plugins/switch/changes"
	"ctl.internal/plugins/switch/survey"
)

// remember adds a change to those of the history, each cable once.
func remember(l []changes.Change, at time.Time, cause survey.Cause, c change) []changes.Change {
	nodes := func(kind changes.Kind, ids []string) {
		for _, id := range ids {
			l = append(l, changes.Change{At: at, Cause: string(cause), Kind: kind, Node: id})
		}
	}
	nodes(changes.NodeAdded, c.AddedNodes)
	nodes(changes.Answering, c.Answering)
	edges := func(kind changes.Kind, list []edge) {
		for _, e := range list {
			if between := !outside(e.TailNode) && !outside(e.HeadNode); between && less(e) {
				continue // the other direction is remembered
			}
			l = append(l, changes.Change{At: at, Cause: string(cause), Kind: kind, Node: e.TailNode, Port: e.TailPort,
				Peer: e.HeadNode, PeerPort: e.HeadPort, Source: e.Source})
		}
	}
	edges(changes.EdgeRemoved, c.RemovedEdges)
	edges(changes.EdgeAdded, c.AddedEdges)
	nodes(changes.Silent, c.Silent)
	nodes(changes.NodeRemoved, c.RemovedNodes)
	return l
}

func less(e edge) bool {
	return e.TailNode < e.HeadNode || e.TailNode == e.HeadNode && e.TailPort < e.HeadPort
}

// outside tells devices outside the list by the form of their ids.
func outside(id string) bool { return strings.Contains(id, ":") }
