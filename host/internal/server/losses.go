package server

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ctl.internal/host/internal/plugin/topomirror"
	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/host/internal/troubles"
	"ctl.internal/sdk/topology"
)

// The kinds of troubles of topologies.
const (
	kindLinkLost   = "link-lost"
	kindNodeLost   = "node-lost"
	kindNodeSilent = "node-silent"
	kindSource     = "source-silent"
)

// maxNetwork are the troubles of all topologies that are listed.
const maxNetwork = 900

// losses finds what topologies had and have no more. It does no I/O.
type losses struct {
	keep   time.Duration
	now    func() time.Time
	before map[string]topology.Topology // by id
	lost   map[string]troubles.Trouble  // by kind and resource
}

func newLosses(keep time.Duration, now func() time.Time, lost []troubles.Trouble) *losses {
	l := &losses{
		keep:   keep,
		now:    now,
		before: map[string]topology.Topology{},
		lost:   map[string]troubles.Trouble{},
	}
	for _, t := range lost {
		if t.Kind == kindLinkLost || t.Kind == kindNodeLost {
			l.lost[lostKey(&t)] = t
		}
	}
	return l
}

func lostKey(t *troubles.Trouble) string { return t.Kind + " " + t.Resource }

// compare notes what is gone since the view before and what is there again, and returns all troubles of the view.
func (l *losses) compare(view *topomirror.View, seen map[string]topomirror.Seen) []troubles.Trouble {
	for _, id := range slices.Sorted(maps.Keys(view.Topologies)) {
		t := view.Topologies[id]
		if was, ok := l.before[id]; ok {
			l.noteLost(was, t)
		}
		l.before[id] = t
	}
	for key, t := range l.lost {
		now, there := view.Topologies[t.Topology]
		ended := l.now().Sub(t.Since) > l.keep
		if !there && view.Synced || there && isBack(&t, now) || ended {
			delete(l.lost, key)
		}
	}
	for id := range l.before {
		if _, there := view.Topologies[id]; !there && view.Synced {
			delete(l.before, id)
		}
	}
	return l.troubles(view, seen)
}

// troubles are what is wrong with the topologies of a view, the lost links and nodes first.
func (l *losses) troubles(
	view *topomirror.View,
	seen map[string]topomirror.Seen,
) (out []troubles.Trouble) {
	for _, key := range slices.Sorted(maps.Keys(l.lost)) {
		out = append(out, l.lost[key])
	}
	for _, id := range slices.Sorted(maps.Keys(view.Topologies)) {
		out = append(out, silentNodes(view.Topologies[id])...)
		if s := seen[id]; s.State == "silent" {
			out = append(out, troubles.Trouble{
				Kind:     kindSource,
				Resource: topologyPath(id),
				Subject:  "topology " + id,
				Topology: id,
				Cause: fmt.Sprintf("plugin %s runs, but has not observed it since %s",
					s.Source, formatInstant(s.Observed)),
				Remedy: "ctl plugin:info " + s.Source + " shows its state; ctl plugin:restart starts it again",
			})
		}
	}
	if more := len(out) - maxNetwork; more > 0 {
		out = append(out[:maxNetwork], troubles.Trouble{
			Kind:     "more",
			Resource: "topologies",
			Cause:    fmt.Sprintf("more than %d things are wrong with the topologies", maxNetwork),
			Remedy:   "the map shows all of them",
		})
	}
	return out
}

// noteLost compares two states of one topology.
func (l *losses) noteLost(was, now topology.Topology) {
	at := l.now().UTC().Truncate(time.Second)
	for id, n := range was.Nodes {
		if _, there := now.Nodes[id]; there || isOutside(n) || isListed(n) {
			continue
		}
		t := troubles.Trouble{
			Kind:     kindNodeLost,
			Resource: nodePath(was.ID, id),
			Subject:  nodeName(was, id),
			Since:    at,
			Topology: was.ID,
			Ends:     []troubles.End{{Node: id}},
			Cause:    "its source does not report it any more",
			Remedy:   "look whether it has power and reaches the controller; acknowledge it if it was removed on purpose",
		}
		l.lost[lostKey(&t)] = t
	}
	have := pairsOf(now)
	for pair, link := range pairsOf(was) {
		_, there := have[pair]
		_, a := now.Nodes[link.SourceNode]
		_, b := now.Nodes[link.DestNode]
		if there || !a || !b || link.Attributes["inferred"] == "true" {
			continue // of a lost node: the node says it
		}
		t := linkLost(was, now, pair, link)
		t.Since = at
		l.lost[lostKey(&t)] = t
	}
}

// linkLost is the trouble of a link that is gone.
func linkLost(was, now topology.Topology, pair string, link topology.Link) troubles.Trouble {
	return troubles.Trouble{
		Kind:     kindLinkLost,
		Resource: topologyPath(was.ID) + "/link=" + tree.EscapeKey(pair),
		Concerns: []string{nodePath(was.ID, link.SourceNode), nodePath(was.ID, link.DestNode)},
		Subject: endName(was, link.SourceNode, link.SourceTP) + " – " +
			endName(was, link.DestNode, link.DestTP),
		Topology: was.ID,
		Ends: []troubles.End{
			{Node: link.SourceNode, Port: link.SourceTP},
			{Node: link.DestNode, Port: link.DestTP},
		},
		Cause:  "it is not reported any more" + portStates(now, link),
		Remedy: "look at the cable and at the ports of both ends; acknowledge it if it was taken away on purpose",
	}
}

// isBack reports whether what was lost is there.
func isBack(t *troubles.Trouble, now topology.Topology) bool {
	if t.Kind == kindNodeLost {
		return len(t.Ends) == 1 && hasNode(now, t.Ends[0].Node)
	}
	if len(t.Ends) != 2 {
		return true // a record of another release
	}
	if !hasNode(now, t.Ends[0].Node) || !hasNode(now, t.Ends[1].Node) {
		return true // of a node that is gone: the node says it, if anybody needs to know
	}
	_, there := pairsOf(now)[pairOf(t.Ends[0].Node, t.Ends[0].Port, t.Ends[1].Node, t.Ends[1].Port)]
	return there
}

func hasNode(t topology.Topology, id string) bool {
	_, there := t.Nodes[id]
	return there
}

// pairsOf are the links of a topology, both directions as one.
func pairsOf(t topology.Topology) map[string]topology.Link {
	out := make(map[string]topology.Link, len(t.Links))
	for _, id := range slices.Sorted(maps.Keys(t.Links)) {
		link := t.Links[id]
		pair := pairOf(link.SourceNode, link.SourceTP, link.DestNode, link.DestTP)
		if _, known := out[pair]; !known {
			out[pair] = link
		}
	}
	return out
}

// pairOf names a link by its ends, whichever is first.
func pairOf(aNode, aPort, bNode, bPort string) string {
	a, b := aNode+" "+aPort, bNode+" "+bPort
	if b < a {
		a, b = b, a
	}
	return a + " " + b
}

// silentNodes are the nodes that did not answer the last request.
func silentNodes(t topology.Topology) (out []troubles.Trouble) {
	for _, id := range slices.Sorted(maps.Keys(t.Nodes)) {
		n := t.Nodes[id]
		if n.Attributes["answering"] != "false" || isOutside(n) {
			continue
		}
		cause := "it has never answered"
		if !n.Observed.IsZero() {
			cause = "its last answer was at " + formatInstant(n.Observed)
		}
		if address := n.Attributes["address"]; address != "" {
			cause += ", from " + address
		}
		out = append(out, troubles.Trouble{
			Kind:     kindNodeSilent,
			Resource: nodePath(t.ID, id),
			Subject:  nodeName(t, id),
			Topology: t.ID,
			Ends:     []troubles.End{{Node: id}},
			Since:    n.Observed.UTC().Truncate(time.Second),
			Cause:    cause,
			Remedy:   "look whether it has power, whether its address is right and whether it lets the controller in",
		})
	}
	return out
}

// isListed reports whether a node is of a list that its source keeps: it stays there while it does not answer, so it is
// gone only because somebody took it out of the list.
func isListed(n topology.Node) bool {
	return n.Attributes["answering"] != ""
}

// isOutside reports whether a node is a neighbour that is not managed: it never answers.
func isOutside(n topology.Node) bool {
	return n.Attributes["type"] == "other"
}

func topologyPath(id string) string { return topologyTree + tree.EscapeKey(id) }

func nodePath(topology, node string) string {
	return topologyPath(topology) + "/node=" + tree.EscapeKey(node)
}

// nodeName is what people call a node.
func nodeName(t topology.Topology, id string) string {
	a := t.Nodes[id].Attributes
	return cmp.Or(a["name"], a["address"], a["mac"], id)
}

// portLabel is what people call a port.
func portLabel(t topology.Topology, node, port string) string {
	name := t.Nodes[node].TPs[port].Attributes["name"]
	return cmp.Or(name, port[strings.LastIndexByte(port, ':')+1:])
}

func endName(t topology.Topology, node, port string) string {
	label := portLabel(t, node, port)
	switch {
	case port == "":
		return nodeName(t, node)
	case strings.Trim(label, "0123456789") == "":
		return nodeName(t, node) + " port " + label
	}
	return nodeName(t, node) + " " + label
}

// portStates say how the ends of a lost link are, as far as that is known.
func portStates(t topology.Topology, link topology.Link) (out string) {
	for _, end := range []troubles.End{
		{Node: link.SourceNode, Port: link.SourceTP},
		{Node: link.DestNode, Port: link.DestTP},
	} {
		if state := t.Nodes[end.Node].TPs[end.Port].Attributes["state"]; state != "" {
			out += "; " + endName(t, end.Node, end.Port) + " is " + state
		}
	}
	return out
}
