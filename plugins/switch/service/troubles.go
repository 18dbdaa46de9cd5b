package service

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/sdk/host"
)

// What the plugin reports to the controller's list of troubles. Switches that answered before are compared by the
// controller itself, with the topology.
const (
	neverAnswered = "switch-never-answered"
	vlanMismatch  = "vlan-mismatch"
)

const (
	// maxTroubles are reported of a kind: the controller takes 500 of a plugin.
	maxTroubles = 250
	// troublesShare times as long as the comparison of VLANs took, which asks all switches, none is made.
	troublesShare = 20
	troublesTime  = 10 * time.Second // for the controller to take the list
)

// reportTroubles reports after each discovery which switches have never answered and which VLANs do not match at the ends
// of a link, until ctx ends: whoever holds the role then reports them.
func (s *Service) reportTroubles(ctx context.Context) {
	var mismatches []host.Trouble
	var due time.Time // to compare VLANs
	for {
		select {
		case <-ctx.Done():
			s.replaceTroubles(context.WithoutCancel(ctx), nil)
			return
		case <-s.surveyed:
		}
		s.replaceTroubles(ctx, append(s.unansweredTroubles(), mismatches...))
		began := time.Now()
		if began.Before(due) {
			continue
		}
		lines, err := s.vlanLines(ctx, vlanIDIn{answering: true})
		if err != nil {
			s.log.Debug("VLANs are not compared", "err", err)
			continue
		}
		due = time.Now().Add(troublesShare * time.Since(began))
		mismatches = s.mismatchTroubles(lines.Mismatches)
		s.replaceTroubles(ctx, append(s.unansweredTroubles(), mismatches...))
	}
}

func (s *Service) replaceTroubles(ctx context.Context, all []host.Trouble) {
	ctx, cancel := context.WithTimeout(ctx, troublesTime)
	defer cancel()
	if err := s.troubles.Replace(ctx, all); err != nil {
		s.log.Debug("the troubles of switches are not in the controller's list", "err", err)
	}
}

// unansweredTroubles are the switches of the list that were asked and have never answered.
func (s *Service) unansweredTroubles() (out []host.Trouble) {
	for _, e := range s.inventory.Entries() {
		failure := s.survey.Failure(e.MAC)
		if s.survey.Observation(e.MAC) != nil || failure == nil || len(out) == maxTroubles {
			continue
		}
		out = append(out, host.Trouble{
			Kind:     neverAnswered,
			Resource: "switch " + e.MAC.String(),
			Concerns: []string{s.nodePath(e.MAC)},
			Subject:  "switch " + e.Place(),
			Cause:    fmt.Sprintf("it has never answered: %v", failure),
			Remedy: "look whether it has power, whether its address, SNMP version and community in the switch list are right, and " +
				"whether it lets the controller in; ctl switch:list shows the list",
		})
	}
	return out
}

// mismatchTroubles has a trouble for each link at which VLANs do not match. That switches call a VLAN differently is none.
func (s *Service) mismatchTroubles(all []mismatch) (out []host.Trouble) {
	texts := map[*bridgeLink]*mismatchTexts{}
	var links []*bridgeLink
	for _, m := range all {
		if m.link == nil {
			continue
		}
		if texts[m.link] == nil {
			if len(links) == maxTroubles {
				break
			}
			texts[m.link] = &mismatchTexts{vlans: map[string][]uint32{}}
			links = append(links, m.link)
		}
		texts[m.link].add(m)
	}
	for _, l := range links {
		out = append(out, host.Trouble{
			Kind:     vlanMismatch,
			Resource: fmt.Sprintf("link %s:%s %s:%s", discovery.NodeID(l.a.node), l.a.id, discovery.NodeID(l.b.node), l.b.id),
			Concerns: []string{s.nodePath(l.a.node), s.nodePath(l.b.node), s.portPath(l.a), s.portPath(l.b)},
			Subject:  l.a.formatTable() + " – " + l.b.formatTable(),
			Warning:  true,
			Cause:    texts[l].format(),
			Remedy:   "make the VLANs of both ends the same; ctl switch:vlan-mismatches lists them",
			Topology: s.set.Topology,
			Ends: []host.TroubleEnd{
				{Node: discovery.NodeID(l.a.node), Port: l.a.id},
				{Node: discovery.NodeID(l.b.node), Port: l.b.id},
			},
		})
	}
	return out
}

// mismatchTexts is what does not match at a link: the VLANs of each text.
type mismatchTexts struct {
	texts []string
	vlans map[string][]uint32
}

func (t *mismatchTexts) add(m mismatch) {
	if t.vlans[m.Text] == nil {
		t.texts = append(t.texts, m.Text)
	}
	t.vlans[m.Text] = append(t.vlans[m.Text], m.VLAN)
}

// format names at most 20 VLANs of a text.
func (t *mismatchTexts) format() string {
	const most = 20
	var parts []string
	for _, text := range t.texts {
		ids := t.vlans[text]
		line := "VLAN " + strings.Trim(strings.ReplaceAll(fmt.Sprint(ids[:min(len(ids), most)]), " ", ", "), "[]")
		if more := len(ids) - most; more > 0 {
			line += fmt.Sprintf(" and %d more", more)
		}
		parts = append(parts, line+": "+text)
	}
	return strings.Join(parts, "; ")
}

// nodePath is the path of a switch in the topology, whose readers may see what is wrong with it.
func (s *Service) nodePath(m mib.MAC) string {
	return fmt.Sprintf("/network-topology:network-topology/topology=%s/node=%s", url.PathEscape(s.set.Topology), discovery.NodeID(m))
}

// portPath is where a port is in the tree of topologies.
func (s *Service) portPath(e linkEnd) string {
	return s.nodePath(e.node) + "/termination-point=" + url.PathEscape(e.id)
}
