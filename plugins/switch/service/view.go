package service

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"ctl.internal/internal/nearest"
	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// ofSwitch is grouping of of module switch.
type ofSwitch struct {
	Node   string `json:"node-id"`
	Switch string `json:"switch"`
}

func (s *Service) switchIdentity(m mib.MAC) ofSwitch {
	return ofSwitch{strconv.FormatUint(uint64(m), 10), s.nameOf(m)}
}

// nameOf is the sysName of a switch; its MAC address where that is not known.
func (s *Service) nameOf(m mib.MAC) string {
	o := s.survey.Observation(m)
	if o != nil && o.SysName != "" {
		return o.SysName
	}
	return m.String()
}

// quality is grouping age of module switch.
type quality struct {
	Answering bool     `json:"answering"`
	Observed  string   `json:"observed,omitempty"`
	Partial   []string `json:"partial,omitempty"`
}

// lastAnswer is grouping age where what a switch reported before is returned. A switch that was not asked yet has none.
type lastAnswer struct {
	Answering *bool    `json:"answering,omitempty"`
	Observed  string   `json:"observed,omitempty"`
	Partial   []string `json:"partial,omitempty"`
}

// lastAnswerOf is when a switch answered last, and whether it still does.
func (s *Service) lastAnswerOf(m mib.MAC) lastAnswer {
	o, err := s.survey.Observation(m), s.survey.Failure(m)
	if o == nil && err == nil {
		return lastAnswer{}
	}
	answers := err == nil
	out := lastAnswer{Answering: &answers}
	if o != nil {
		out.Observed = formatTime(o.Observed)
		out.Partial = formatCuts(o.Cut)
	}
	return out
}

// lastAnswerOfNode is lastAnswerOf for a node-id in text.
func (s *Service) lastAnswerOfNode(id string) lastAnswer {
	m, err := strconv.ParseUint(id, 10, 48)
	if err != nil {
		return lastAnswer{}
	}
	return s.lastAnswerOf(mib.MAC(m))
}

// formatTime writes a time in answers.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// readCurrent reads what a switch reports of its ports and neighbours now; of one that does not answer it is what is known.
func (s *Service) readCurrent(
	ctx context.Context,
	sw *switchdriver.Switch,
) (*discovery.Observation, quality, error) {
	o, err := s.drivers.Observe(ctx, sw)
	q := quality{Answering: err == nil}
	if err != nil {
		if o = s.survey.Observation(mib.MAC(sw.NodeId)); o == nil {
			return nil, q, err
		}
	}
	q.Observed = formatTime(o.Observed)
	q.Partial = formatCuts(o.Cut)
	return o, q, nil
}

// formatCuts say which tables could be read up to some row only.
func formatCuts(cuts []discovery.Cut) (out []string) {
	for _, c := range cuts {
		out = append(out, c.Table+": "+c.Why)
	}
	return out
}

// portNames are the names of the ports of a switch by number.
type portNames map[uint32]string

// portNamesOf are the names of a switch's ports, as it reported them last.
func (s *Service) portNamesOf(m mib.MAC) portNames {
	if o := s.survey.Observation(m); o != nil {
		return namesOf(o)
	}
	return nil
}

func namesOf(o *discovery.Observation) portNames {
	names := make(portNames, len(o.Ports))
	for _, p := range o.Ports {
		_, taken := names[p.Number]
		if !taken || p.Bridged {
			names[p.Number] = portName(p)
		}
	}
	return names
}

func portName(p discovery.Port) string {
	if p.Name != "" {
		return p.Name
	}
	return p.ID
}

func (n portNames) nameOfPort(number uint32) string {
	if name := n[number]; name != "" {
		return name
	}
	return strconv.FormatUint(uint64(number), 10)
}

func (n portNames) allNames(numbers []uint32) []string {
	out := make([]string, 0, len(numbers))
	for _, p := range numbers {
		out = append(out, n.nameOfPort(p))
	}
	return out
}

// parsePort finds the port that a name or a number means; 0: none is meant.
func (n portNames) parsePort(sw *switchdriver.Switch, leaf, text string) (uint32, error) {
	if text == "" {
		return 0, nil
	}
	var found []uint32
	for p, name := range n {
		if strings.EqualFold(name, text) {
			found = append(found, p)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	p, err := strconv.ParseUint(text, 10, 16)
	_, known := n[uint32(p)]
	switch {
	case len(found) > 1:
		slices.Sort(found)
		return 0, fault.At(
			fault.Invalid,
			leaf,
			"%.64q may be any of the ports %v of switch %s; write the number",
			text,
			found,
			switchdriver.Label(sw),
		)
	case err == nil && p > 0 && (known || len(n) == 0):
		return uint32(p), nil
	}
	names := slices.Collect(maps.Values(n))
	return 0, fault.At(
		fault.NotFound,
		leaf,
		"switch %s has no port %.64q%s; switch:ports shows its ports",
		switchdriver.Label(sw),
		text,
		nearest.Hint(text, names),
	)
}

// parsePortList reads names, numbers, and ranges of numbers, 1-4.
func (n portNames) parsePortList(
	sw *switchdriver.Switch,
	leaf string,
	list []string,
) (out []uint32, err error) {
	var l fault.List
	for _, item := range list {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		p, err := n.parsePort(sw, leaf, item)
		if err == nil {
			out = append(out, p)
			continue
		}
		low, high, ranged := strings.Cut(item, "-")
		from, err1 := strconv.ParseUint(low, 10, 16)
		to, err2 := strconv.ParseUint(high, 10, 16)
		if !ranged || err1 != nil || err2 != nil || from == 0 || to < from {
			l = append(l, fault.All(err)...)
			continue
		}
		for i := from; i <= to; i++ {
			p, err := n.parsePort(sw, leaf, strconv.FormatUint(i, 10))
			if err != nil {
				l = append(l, fault.All(err)...)
				break
			}
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), l.Err()
}

// meantPorts returns the ports that the items of lists name. Where the name is the number, the number is meant.
func (n portNames) meantPorts(lists ...[]string) map[uint32]string {
	out := map[uint32]string{}
	for _, item := range slices.Concat(lists...) {
		for p, name := range n {
			if strings.EqualFold(name, strings.TrimSpace(item)) &&
				name != strconv.FormatUint(uint64(p), 10) {
				out[p] = name
			}
		}
	}
	return out
}

// completePort lists the names of ports, of all switches: which one is meant is not known while the line is typed.
func (s *Service) completePort(_ context.Context, prefix string) []string {
	prefix = strings.ToLower(prefix)
	seen := map[string]bool{}
	for _, e := range s.inventory.Entries() {
		for _, name := range s.portNamesOf(e.MAC) {
			if len(seen) < maxCompletions &&
				strings.HasPrefix(strings.ToLower(name), prefix) &&
				!strings.ContainsAny(name, " \t\"'\\|;") {
				seen[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// completePorts is completePort for the last of several names that commas separate.
func (s *Service) completePorts(ctx context.Context, prefix string) []string {
	head := prefix[:strings.LastIndexByte(prefix, ',')+1]
	out := s.completePort(ctx, prefix[len(head):])
	for i := range out {
		out[i] = head + out[i]
	}
	return out
}
