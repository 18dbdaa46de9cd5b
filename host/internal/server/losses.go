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
	kindMore       = "more" // than are listed
)

// lostResource is what the trouble is about which says that not all of them are listed.
const lostResource = "lost links and nodes"

const (
	// maxNetwork are the troubles of all topologies that are listed.
	maxNetwork = 900
	// maxLost are the lost links and nodes of all topologies that are listed, the newest ones.
	maxLost = 500
	// maxApart are the links of lost nodes that are kept of one topology, to see whether they come back with the nodes.
	maxApart = 5000
)

// losses finds what topologies had and have no more. It does no I/O.
type losses struct {
	keep    time.Duration
	now     func() time.Time
	before  map[string]observed         // by id of the topology
	lost    map[string]troubles.Trouble // by kind and resource
	dropped time.Time                   // when there were more than maxLost
}

// observed is a topology as it was compared last.
type observed struct {
	topology topology.Topology
	source   string
	version  uint64 // of the view, 0: not of a view
	pairs    map[string]pair
	// apart are the links that went with one of their nodes, as the troubles that they become if both nodes come back
	// without them, by kind and resource.
	apart map[string]troubles.Trouble
}

// pair is a link, both directions as one.
type pair struct {
	link topology.Link
	ids  []string // of all its directions
}

func observe(t topology.Topology, source string, version uint64) observed {
	return observed{t, source, version, pairsOf(t), map[string]troubles.Trouble{}}
}

func newLosses(keep time.Duration, now func() time.Time, lost []troubles.Trouble) *losses {
	l := &losses{
		keep:   keep,
		now:    now,
		before: map[string]observed{},
		lost:   map[string]troubles.Trouble{},
	}
	for _, t := range lost {
		switch {
		case t.Kind == kindLinkLost || t.Kind == kindNodeLost:
			l.lost[lostKey(&t)] = t
		case t.Kind == kindMore && t.Resource == lostResource:
			l.dropped = t.Since
		}
	}
	return l
}

func lostKey(t *troubles.Trouble) string { return t.Kind + " " + t.Resource }

// compare notes what is gone since the view before and what is there again, and returns all troubles of the view.
func (l *losses) compare(view *topomirror.View, seen map[string]topomirror.Seen) []troubles.Trouble {
	for _, id := range slices.Sorted(maps.Keys(view.Topologies)) {
		was, known := l.before[id]
		source, version := view.Sources[id], view.Versions[id]
		if known && version != 0 && was.version == version && was.source == source {
			continue
		}
		now := observe(view.Topologies[id], source, version)
		if known {
			now.apart = was.apart
			l.noteLost(was, now)
		}
		l.noteFound(now)
		l.before[id] = now
	}
	l.forget(view)
	return l.troubles(view, seen)
}

// forget drops what is too old, what is too much, and what topologies had that are gone.
func (l *losses) forget(view *topomirror.View) {
	gone := func(id string) bool {
		_, there := view.Topologies[id]
		return !there && view.Synced
	}
	maps.DeleteFunc(l.lost, func(_ string, t troubles.Trouble) bool {
		return gone(t.Topology) || l.isOver(t.Since)
	})
	maps.DeleteFunc(l.before, func(id string, _ observed) bool { return gone(id) })
	for _, o := range l.before {
		maps.DeleteFunc(o.apart, func(_ string, t troubles.Trouble) bool {
			return l.isOver(t.Since)
		})
	}
	if more := len(l.lost) - maxLost; more > 0 {
		oldest := slices.SortedFunc(maps.Keys(l.lost), func(x, y string) int {
			return cmp.Or(l.lost[x].Since.Compare(l.lost[y].Since), cmp.Compare(x, y))
		})
		for _, key := range oldest[:more] {
			delete(l.lost, key)
		}
		l.dropped = l.now().UTC().Truncate(time.Second)
	}
}

// isOver reports whether something was lost too long ago to be listed.
func (l *losses) isOver(since time.Time) bool {
	return l.now().Sub(since) > l.keep
}

// troubles are what is wrong with the topologies of a view, the lost links and nodes first.
func (l *losses) troubles(
	view *topomirror.View,
	seen map[string]topomirror.Seen,
) (out []troubles.Trouble) {
	for _, key := range slices.Sorted(maps.Keys(l.lost)) {
		out = append(out, l.lost[key])
	}
	if !l.isOver(l.dropped) {
		out = append(out, troubles.Trouble{
			Kind:     kindMore,
			Resource: lostResource,
			Since:    l.dropped,
			Cause:    fmt.Sprintf("more than %d links and nodes were lost; only the newest are listed", maxLost),
			Remedy:   "the map shows what is there now",
		})
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
				Remedy: "ctl plugin:info " + argument(s.Source) + " shows its state; ctl plugin:restart starts it again",
			})
		}
	}
	if more := len(out) - maxNetwork; more > 0 {
		out = append(out[:maxNetwork], troubles.Trouble{
			Kind:     kindMore,
			Resource: "topologies",
			Cause:    fmt.Sprintf("more than %d things are wrong with the topologies", maxNetwork),
			Remedy:   "the map shows all of them",
		})
	}
	return out
}

// noteLost compares two states of one topology.
func (l *losses) noteLost(was, now observed) {
	at := l.now().UTC().Truncate(time.Second)
	for id, n := range was.topology.Nodes {
		if hasNode(now.topology, id) || isOutside(n) || isListed(n) {
			continue
		}
		t := nodeLost(was.topology, id)
		t.Since = at
		l.lost[lostKey(&t)] = t
	}
	for name, p := range was.pairs {
		if _, there := now.pairs[name]; there || p.link.Attributes["inferred"] == "true" {
			continue
		}
		t := linkLost(was.topology, name, p)
		if hasEnds(now.topology, t.Ends) {
			l.addLink(t, now.topology)
			continue
		}
		t.Since = at // of a lost node: the node says it
		keepApart(now, t)
	}
}

// noteFound compares what was lost before with a topology that has changed.
func (l *losses) noteFound(now observed) {
	for key, t := range l.lost {
		switch {
		case t.Topology != now.topology.ID:
			continue
		case t.Kind == kindNodeLost:
			if hasEnds(now.topology, t.Ends) {
				delete(l.lost, key)
			}
		case len(t.Ends) != 2 || now.hasLink(t.Ends): // or a record of another release
			delete(l.lost, key)
		case !hasEnds(now.topology, t.Ends):
			delete(l.lost, key) // the node says it, if anybody needs to know
			keepApart(now, t)
		}
	}
	for key, t := range now.apart {
		if !hasEnds(now.topology, t.Ends) {
			continue
		}
		delete(now.apart, key)
		if !now.hasLink(t.Ends) {
			l.addLink(t, now.topology)
		}
	}
}

// addLink adds a link that a topology has lost, now.
func (l *losses) addLink(t troubles.Trouble, now topology.Topology) {
	t.Since = l.now().UTC().Truncate(time.Second)
	t.Cause = "it is not reported any more" + portStates(now, t.Ends)
	l.lost[lostKey(&t)] = t
}

// keepApart keeps a link that went with one of its nodes.
func keepApart(o observed, t troubles.Trouble) {
	if len(o.apart) < maxApart {
		o.apart[lostKey(&t)] = t
	}
}

// nodeLost is the trouble of a node that is gone.
func nodeLost(was topology.Topology, id string) troubles.Trouble {
	return troubles.Trouble{
		Kind:     kindNodeLost,
		Resource: nodePath(was.ID, id),
		Subject:  nodeName(was, id),
		Topology: was.ID,
		Ends:     []troubles.End{{Node: id}},
		Cause:    "its source does not report it any more",
		Remedy:   "look whether it has power and reaches the controller; acknowledge it if it was removed on purpose",
	}
}

// linkLost is the trouble of a link that is gone, but for its cause.
func linkLost(was topology.Topology, name string, p pair) troubles.Trouble {
	ends := []troubles.End{
		{Node: p.link.SourceNode, Port: p.link.SourceTP},
		{Node: p.link.DestNode, Port: p.link.DestTP},
	}
	return troubles.Trouble{
		Kind:     kindLinkLost,
		Resource: topologyPath(was.ID) + "/link=" + tree.EscapeKey(name),
		Concerns: concernsOfLink(was.ID, p, ends),
		Subject: endName(was, p.link.SourceNode, p.link.SourceTP) + " – " +
			endName(was, p.link.DestNode, p.link.DestTP),
		Topology: was.ID,
		Ends:     ends,
		Remedy:   "look at the cable and at the ports of both ends; acknowledge it if it was taken away on purpose",
	}
}

// concernsOfLink are the nodes and ports of a link, and its directions as they are in the tree.
func concernsOfLink(topology string, p pair, ends []troubles.End) (out []string) {
	for _, e := range ends {
		out = append(out, nodePath(topology, e.Node))
		if e.Port != "" {
			out = append(out, nodePath(topology, e.Node)+"/termination-point="+tree.EscapeKey(e.Port))
		}
	}
	for _, id := range slices.Sorted(slices.Values(p.ids)) {
		out = append(out, topologyPath(topology)+"/link="+tree.EscapeKey(id))
	}
	return out
}

// hasLink reports whether two ends are connected.
func (o *observed) hasLink(ends []troubles.End) bool {
	_, there := o.pairs[pairOf(ends[0].Node, ends[0].Port, ends[1].Node, ends[1].Port)]
	return there
}

// hasEnds reports whether the nodes of all ends are there.
func hasEnds(t topology.Topology, ends []troubles.End) bool {
	return !slices.ContainsFunc(ends, func(e troubles.End) bool { return !hasNode(t, e.Node) })
}

func hasNode(t topology.Topology, id string) bool {
	_, there := t.Nodes[id]
	return there
}

// pairsOf are the links of a topology, both directions as one.
func pairsOf(t topology.Topology) map[string]pair {
	out := make(map[string]pair, len(t.Links))
	for id, link := range t.Links {
		name := pairOf(link.SourceNode, link.SourceTP, link.DestNode, link.DestTP)
		p, known := out[name]
		if !known || id < p.link.ID {
			p.link = link
		}
		p.ids = append(p.ids, id)
		out[name] = p
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
	for id, n := range t.Nodes {
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
	slices.SortFunc(out, func(x, y troubles.Trouble) int {
		return cmp.Compare(x.Resource, y.Resource)
	})
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
func portStates(t topology.Topology, ends []troubles.End) (out string) {
	for _, end := range ends {
		if state := t.Nodes[end.Node].TPs[end.Port].Attributes["state"]; state != "" {
			out += "; " + endName(t, end.Node, end.Port) + " is " + state
		}
	}
	return out
}
