package service

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

type neighborLine struct {
	ofSwitch
	lastAnswer
	Port     string   `json:"port"`
	Members  []string `json:"member,omitempty"`
	Neighbor string   `json:"neighbor"`
	FarPort  string   `json:"neighbor-port,omitempty"`
	Far      []string `json:"neighbor-member,omitempty"`
	Address  []string `json:"address,omitempty"`
	Protocol string   `json:"protocol,omitempty"`
	Placed   bool     `json:"placed"`
	Reason   string   `json:"reason,omitempty"`
}

type neighborLines struct {
	Entries []neighborLine `json:"entry"`
}

// neighborName is what a neighbour calls itself.
func neighborName(n discovery.Neighbor) string {
	return cmp.Or(n.SysName, n.Chassis.String())
}

// onlyNodeID is the node-id of a switch that a call is limited to, "" when it is not.
func (s *Service) onlyNodeID(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	sw, err := s.findNamedSwitch(name)
	if err != nil {
		return "", err
	}
	return discovery.NodeID(mib.MAC(sw.NodeId)), nil
}

// neighborLines lists the edges at the ports of the switches, and the neighbours that are none.
func (s *Service) neighborLines(ctx context.Context, in whichIn) (*neighborLines, error) {
	n, err := s.survey.Await(ctx)
	if err != nil {
		return nil, err
	}
	only, err := s.onlyNodeID(in.Switch)
	if err != nil {
		return nil, err
	}
	out := &neighborLines{Entries: []neighborLine{}}
	names := n.Names()
	for _, e := range n.Edges {
		if e.Head.Kind == discovery.SNMP && (only == "" || e.Head.Node == only) {
			out.Entries = append(out.Entries, neighborLine{
				ofSwitch:   s.ofNode(e.Head.Node),
				lastAnswer: s.lastAnswerOfNode(e.Head.Node),
				Port:       s.portOf(e.Head),
				Members:    s.portsOf(e.Head.Node, e.HeadMembers),
				Neighbor:   cmp.Or(names[e.Tail.Node], e.Tail.Node),
				FarPort:    s.portOf(e.Tail),
				Far:        s.portsOf(e.Tail.Node, e.TailMembers),
				Address:    s.announcedAddresses(e),
				Protocol:   e.Source,
				Placed:     true,
			})
		}
	}
	for _, u := range n.Unresolved {
		if only == "" || u.Node == only {
			out.Entries = append(out.Entries, neighborLine{
				ofSwitch:   s.ofNode(u.Node),
				lastAnswer: s.lastAnswerOfNode(u.Node),
				Port: s.portOf(discovery.End{
					Node: u.Node,
					Port: u.Port,
				}),
				Neighbor: u.Neighbor,
				Reason:   u.Why,
			})
		}
	}
	slices.SortStableFunc(out.Entries, func(a, b neighborLine) int {
		return strings.Compare(a.Switch, b.Switch)
	})
	return out, nil
}

// portsOf names the members of a link.
func (s *Service) portsOf(node string, members []string) (out []string) {
	for _, m := range members {
		out = append(out, s.portOf(discovery.End{
			Node: node,
			Port: m,
		}))
	}
	return out
}

// formatPort is a port in a table, with its members.
func formatPort(port string, members []string) string {
	switch list := strings.Join(members, "+"); {
	case list == "" || list == port:
		return port
	case port == "":
		return "one of " + list
	default:
		return port + " (" + list + ")"
	}
}

// ofNode is of for a node-id in text.
func (s *Service) ofNode(id string) ofSwitch {
	if m, err := strconv.ParseUint(id, 10, 48); err == nil {
		return s.switchIdentity(mib.MAC(m))
	}
	return ofSwitch{id, id}
}

// announcedAddresses are the management addresses of the device at the tail of an edge.
func (s *Service) announcedAddresses(e discovery.Edge) (out []string) {
	id, err := strconv.ParseUint(e.Head.Node, 10, 48)
	o := s.survey.Observation(mib.MAC(id))
	if err != nil || o == nil {
		return nil
	}
	for _, n := range o.Neighbors {
		if n.LocalPort != e.Head.Port && !slices.Contains(e.HeadMembers, n.LocalPort) {
			continue
		}
		for _, a := range n.Addresses {
			out = append(out, a.String())
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (o *neighborLines) formatTable() string {
	t := commands.Table{
		Empty: "No neighbours.",
		Columns: []commands.Column{{
			Title: "Switch",
			Max:   32,
		}, {Title: "Port"}, {
			Title: "Neighbour",
			Max:   40,
		}, {Title: "Port", Max: 24},
			{
				Title: "Addresses",
				Max:   40,
			}, {Title: "Source"}, {Title: "Placed"}, {
				Title: "Reason",
				Max:   80,
			}},
	}
	for _, e := range o.Entries {
		t.Add(
			e.Switch,
			formatPort(e.Port, e.Members),
			e.Neighbor,
			formatPort(e.FarPort, e.Far),
			commands.List(", ", e.Address),
			e.Protocol,
			e.Placed,
			e.Reason,
		)
	}
	return t.String()
}

type historyIn struct {
	Switch string `json:"switch"`
	Since  string `json:"since"`
	Limit  int    `json:"limit"`
}

type historyLine struct {
	Time   string `json:"time"`
	Change string `json:"change"`
	ofSwitch
	Port     string `json:"port,omitempty"`
	Peer     string `json:"peer,omitempty"`
	PeerPort string `json:"peer-port,omitempty"`
	MAC      string `json:"mac-address,omitempty"`
	Source   string `json:"source,omitempty"`
	Cause    string `json:"cause,omitempty"`
	Who      string `json:"who,omitempty"`
}

type historyLines struct {
	Entries []historyLine `json:"entry"`
}

func (s *Service) historyLines(_ context.Context, in historyIn) (*historyLines, error) {
	only, err := s.onlyNodeID(in.Switch)
	if err != nil {
		return nil, err
	}
	var since time.Time
	if in.Since != "" {
		if since, err = time.Parse(time.RFC3339, in.Since); err != nil {
			return nil, fault.At(
				fault.Invalid,
				"since",
				"%.40q is not a time as in RFC 3339, 2026-11-22T17:00:00Z",
				in.Since,
			)
		}
	}
	out := &historyLines{Entries: []historyLine{}}
	for _, c := range s.recentChanges() {
		if c.At.Before(since) || in.Limit > 0 && len(out.Entries) == in.Limit {
			break
		}
		if only != "" && c.Node != only && c.Peer != only {
			continue
		}
		l := historyLine{formatTime(c.At), string(c.Kind), s.ofNode(c.Node), s.portOf(discovery.End{
			Node: c.Node,
			Port: c.Port,
		}), "", "", "", c.Source, c.Cause, c.By}
		if c.Peer != "" {
			l.Peer, l.PeerPort = s.ofNode(c.Peer).Switch, s.portOf(discovery.End{
				Node: c.Peer,
				Port: c.PeerPort,
			})
		}
		if c.MAC != 0 {
			l.MAC = c.MAC.String()
		}
		out.Entries = append(out.Entries, l)
	}
	return out, nil
}

func (o *historyLines) formatTable() string {
	t := commands.Table{
		Empty: "Nothing has changed yet.",
		Columns: []commands.Column{{Title: "Time"}, {Title: "Change"}, {
			Title: "Switch",
			Max:   32,
		}, {Title: "Port"},
			{
				Title: "Peer",
				Max:   32,
			}, {Title: "Port"}, {Title: "MAC address"}, {Title: "Source"}, {Title: "Cause"}, {Title: "Who"}},
	}
	for _, e := range o.Entries {
		t.Add(e.Time, e.Change, e.Switch, e.Port, e.Peer, e.PeerPort, e.MAC, e.Source, e.Cause, e.Who)
	}
	return t.String()
}
