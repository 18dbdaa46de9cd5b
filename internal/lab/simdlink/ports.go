package simdlink

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// port is what the switch keeps of a port.
type port struct {
	disabled    bool
	description string
	speed       string // "auto", "100_full"
	noPower     bool
	priority    string // "critical", "high", "low"
	limit       int    // milliwatts; 0: that of the class
}

// The power of the switch: watts in all, milliwatts of class 0 and at most at a port.
const (
	powerBudget = 370
	classLimit  = 15400
	mostLimit   = 35000
)

func newPorts() map[int]*port {
	out := map[int]*port{}
	for n := 1; n <= count; n++ {
		out[n] = &port{speed: "auto", priority: "low"}
	}
	return out
}

// portCommands are the lines about ports.
func portCommands() []command {
	line := func(form string, do func(s *state, m []string) string) command {
		return command{regexp.MustCompile("^" + form + "$"), do}
	}
	set := func(change func(p *port, value string)) func(*state, []string) string {
		return func(s *state, m []string) string {
			list := parsePortList(m[1])
			if list == nil {
				return possible
			}
			for _, n := range list {
				change(s.ports[n], m[2])
			}
			return success
		}
	}
	return []command{
		line(`config ports (\S+) state (enable|disable)`, (*state).setState),
		line(
			`config ports (\S+) clear_description()`,
			set(func(p *port, _ string) { p.description = "" }),
		),
		line(
			`config ports (\S+) description (\S{1,32}|"[^"]{1,32}")`,
			set(func(p *port, v string) { p.description = strings.Trim(v, `"`) }),
		),
		line(
			`config ports (\S+) speed (auto|10_half|10_full|100_half|100_full|1000_full)`,
			set(func(p *port, v string) { p.speed = v }),
		),
		line(
			`config poe ports (\S+) state (enable|disable)`,
			set(func(p *port, v string) { p.noPower = v == "disable" }),
		),
		line(
			`config poe ports (\S+) priority (critical|high|low)`,
			set(func(p *port, v string) { p.priority = v }),
		),
		line(`config poe ports (\S+) power_limit user_define (\d{4,5})`, func(s *state, m []string) string {
			list := parsePortList(m[1])
			limit, err := strconv.Atoi(m[2])
			if list == nil || err != nil || limit < 1000 || limit > mostLimit {
				return possible
			}
			for _, n := range list {
				s.ports[n].limit = limit
			}
			return success
		}),
		line(`show ports (?:(\S+) )?description`, (*state).showPorts),
		line(`show poe ports(?: (\S+))?`, (*state).showPower),
		line(`show poe system`, func(*state, []string) string {
			return fmt.Sprintf(
				" PoE System Information\r\n ---------------------------------------------------\r\n Power Limit        : %d (Watts)\r\n Power Consumption  : %d (Watts)\r\n Power Remained     : %d (Watts)\r\n",
				powerBudget,
				0,
				powerBudget,
			)
		}),
	}
}

func (s *state) setState(m []string) string {
	list := parsePortList(m[1])
	if list == nil {
		return possible
	}
	for _, n := range list {
		s.ports[n].disabled = m[2] == "disable"
		if s.portState != nil {
			s.portState(n, !s.ports[n].disabled)
		}
	}
	return success
}

// listed are the ports of a list, all of them if there is none.
func listed(list string) []int {
	if list == "" {
		list = fmt.Sprintf("1-%d", count)
	}
	return parsePortList(list)
}

func (s *state) showPorts(m []string) string {
	list := listed(m[1])
	if list == nil {
		return possible
	}
	var b strings.Builder
	b.WriteString(" Port   State/          Settings             Connection           Address\r\n        MDIX       Speed/Duplex/FlowCtrl  Speed/Duplex/FlowCtrl   Learning\r\n -----  --------  ---------------------  ----------------------  ---------\r\n")
	for _, n := range list {
		p := s.ports[n]
		speed := map[string]string{
			"auto":      "Auto",
			"10_half":   "10M/Half",
			"10_full":   "10M/Full",
			"100_half":  "100M/Half",
			"100_full":  "100M/Full",
			"1000_full": "1000M/Full",
		}[p.speed]
		fmt.Fprintf(
			&b,
			" %-5d  %-8s  %-21s  %-22s  Enabled\r\n        Auto\r\n",
			n,
			onOff(!p.disabled),
			speed+"/Disabled",
			"Link Down",
		)
		fmt.Fprintf(&b, "        Desc: %s\r\n", p.description)
	}
	return b.String()
}

func (s *state) showPower(m []string) string {
	list := listed(m[1])
	if list == nil {
		return possible
	}
	var b strings.Builder
	b.WriteString(" Port  State    Priority  Power Limit(mW)   Time Range\r\n       Class    Power(mW) Voltage(decivolt) Current(mA)\r\n       Status\r\n ==============================================================================\r\n")
	for _, n := range list {
		p := s.ports[n]
		limit := fmt.Sprintf("%d(Class 0)", classLimit)
		if p.limit > 0 {
			limit = fmt.Sprintf("%d(User-define)", p.limit)
		}
		status := "OFF : Interim state during line detection"
		if p.noPower {
			status = "OFF : Port is off due to the user setting"
		}
		name := strings.ToUpper(p.priority[:1]) + p.priority[1:]
		fmt.Fprintf(
			&b,
			" %-4d  %-8s %-9s %-17s\r\n       0        0         0                 0\r\n       %s\r\n",
			n,
			onOff(!p.noPower),
			name,
			limit,
			status,
		)
	}
	return b.String()
}

// portLines are the commands that make the ports what they are.
func (s *state) portLines() string {
	var b strings.Builder
	for n := 1; n <= count; n++ {
		p := s.ports[n]
		say := func(asked bool, format string, args ...any) {
			if asked {
				fmt.Fprintf(&b, format+"\n", args...)
			}
		}
		say(p.disabled, "config ports %d-%d state disable", n, n)
		say(p.description != "", "config ports %d-%d description %q", n, n, p.description)
		say(p.speed != "auto", "config ports %d-%d speed %s", n, n, p.speed)
		say(p.noPower, "config poe ports %d-%d state disable", n, n)
		say(p.priority != "low", "config poe ports %d-%d priority %s", n, n, p.priority)
		say(p.limit > 0, "config poe ports %d-%d power_limit user_define %d", n, n, p.limit)
	}
	return b.String()
}
