package device

import (
	"regexp"
	"strconv"
	"strings"

	"ctl.internal/sdk/switchdriver"
)

// portForms are the forms of lines about ports.
type portForms struct {
	row, description, speed, power, drawn, status, budget, consumption *regexp.Regexp
}

func newPortForms() portForms {
	return portForms{
		row:         regexp.MustCompile(`(?i)^\s*([0-9:]+)\s+(enabled|disabled)\s+(\S+)\s+(link down|\S+)`),
		description: regexp.MustCompile(`(?i)^\s*desc(?:ription)?\s*:\s?(.*)$`),
		speed:       regexp.MustCompile(`(?i)^(\d+)(m|g)/(half|full)`),
		power:       regexp.MustCompile(`(?i)^\s*([0-9:]+)\s+(enabled|disabled)\s+(critical|high|low)\s+(\d+)`),
		drawn:       regexp.MustCompile(`(?i)^\s*(\d|n/a)\s+(\d+)\s+\d+\s+\d+\s*$`),
		status:      regexp.MustCompile(`(?i)^\s*(on|off)\s*:\s*(.*)$`),
		budget:      regexp.MustCompile(`(?im)^\s*power limit\s*:\s*(\d+)`),
		consumption: regexp.MustCompile(`(?im)^\s*power consumption\s*:\s*(\d+)`),
	}
}

// Ports reads the answer to ShowPorts; none if it is not one.
func (p *Parser) Ports(text string) (out []*switchdriver.PortSettings) {
	var last *switchdriver.PortSettings
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRight(line, "\r ")
		if m := p.forms.row.FindStringSubmatch(line); m != nil {
			last = nil
			number, ok := portNumber(m[1])
			if !ok {
				continue
			}
			last = &switchdriver.PortSettings{
				Port:        number,
				Up:          new(strings.EqualFold(m[2], "enabled")),
				Description: new(""),
			}
			last.Speed, last.Duplex = p.speedOf(m[3])
			p.linkOf(m[4], last)
			out = append(out, last)
			continue
		}
		m := p.forms.description.FindStringSubmatch(line)
		if m != nil && last != nil {
			last.Description = new(m[1])
		}
	}
	return out
}

// portNumber reads "7", or "2:7" of a stack.
func portNumber(text string) (uint32, bool) {
	unit, n, ok := parsePort(text, 0)
	return uint32(max(0, unit-1)*unitPorts + n), ok
}

// speedOf reads "Auto/Disabled" or "100M/Full/Disabled"; nil: it is neither.
func (p *Parser) speedOf(text string) (speed, duplex *uint32) {
	if first, _, _ := strings.Cut(text, "/"); strings.EqualFold(first, "auto") {
		return new(uint32(0)), new(uint32(0))
	}
	m := p.forms.speed.FindStringSubmatch(text)
	if m == nil {
		return nil, nil
	}
	n, err := strconv.ParseUint(m[1], 10, 16)
	if err != nil {
		return nil, nil
	}
	if strings.EqualFold(m[2], "g") {
		n *= 1000
	}
	mode := switchdriver.DuplexFull
	if strings.EqualFold(m[3], "half") {
		mode = switchdriver.DuplexHalf
	}
	return new(uint32(n)), &mode
}

// linkOf reads "Link Down" or "1000M/Full/None".
func (p *Parser) linkOf(text string, to *switchdriver.PortSettings) {
	if !p.forms.speed.MatchString(text) {
		return
	}
	to.LinkSpeed, to.LinkDuplex = p.speedOf(text)
	const disabled, both = 1, 4 // dot3PauseOperMode
	switch flow := text[strings.LastIndexByte(text, '/')+1:]; {
	case strings.EqualFold(flow, "none"), strings.EqualFold(flow, "disabled"):
		to.FlowControl = new(uint32(disabled))
	case strings.EqualFold(flow, "802.3x"):
		to.FlowControl = new(uint32(both))
	}
}

// AddPower adds the answer to ShowPower to ports. An answer of another form adds nothing.
func (p *Parser) AddPower(text string, ports []*switchdriver.PortSettings) {
	byNumber := map[uint32]*switchdriver.PortSettings{}
	for _, s := range ports {
		byNumber[s.Port] = s
	}
	var last *switchdriver.PortSettings
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRight(line, "\r ")
		if m := p.forms.power.FindStringSubmatch(line); m != nil {
			number, _ := portNumber(m[1])
			if last = byNumber[number]; last != nil {
				addPower(m, last)
			}
			continue
		}
		if last == nil {
			continue
		}
		if m := p.forms.drawn.FindStringSubmatch(line); m != nil {
			last.PowerClass, last.PowerDrawn = numberIn(m[1]), numberIn(m[2])
		} else if m := p.forms.status.FindStringSubmatch(line); m != nil {
			last.PowerStatus = new(powerStatus(m[1], m[2]))
		}
	}
}

// addPower adds the first line of a port: its state, priority and limit.
func addPower(m []string, to *switchdriver.PortSettings) {
	to.Power = new(strings.EqualFold(m[2], "enabled"))
	to.PowerPriority = new(map[string]uint32{
		"critical": switchdriver.PowerCritical,
		"high":     switchdriver.PowerHigh,
		"low":      switchdriver.PowerLow,
	}[strings.ToLower(m[3])])
	to.PowerLimit = numberIn(m[4])
}

func numberIn(text string) *uint32 {
	n, err := strconv.ParseUint(text, 10, 20)
	if err != nil {
		return nil
	}
	return new(uint32(n))
}

// powerStatus is pethPsePortDetectionStatus of "ON : …" and "OFF : …".
func powerStatus(state, why string) uint32 {
	const disabled, searching, delivering = 1, 2, 3
	switch {
	case strings.EqualFold(state, "on"):
		return delivering
	case strings.Contains(strings.ToLower(why), "user setting"):
		return disabled
	}
	return searching
}

// Supply reads the answer to ShowSupply; nil: the switch has no power over Ethernet.
func (p *Parser) Supply(text string) *switchdriver.PowerSupply {
	budget, drawn := p.forms.budget.FindStringSubmatch(text), p.forms.consumption.FindStringSubmatch(text)
	if budget == nil || drawn == nil {
		return nil
	}
	supply := &switchdriver.PowerSupply{Group: 1}
	if n := numberIn(budget[1]); n != nil {
		supply.Budget = *n
	}
	if n := numberIn(drawn[1]); n != nil {
		supply.Drawn = *n
	}
	return supply
}
