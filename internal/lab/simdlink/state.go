package simdlink

import (
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// state is what the switch keeps.
type state struct {
	clipaging bool
	stp       bool
	stpPorts  map[int]bool
	stpPort   func(port int, on bool)
	settings  map[string]string // by what they set
	profiles  map[int]*profile
	saved     string
	table     []command
	ports     map[int]*port
	portState func(port int, up bool) // nil: not used
}

// profile is an access profile.
type profile struct {
	name  string
	layer string // "ethernet" or "ip"
	match string // as it was written
	rules map[int]string
}

const (
	maxProfile = 6 // of a DGS-3120
	maxRule    = 256
)

func newState(stpPort func(int, bool)) *state {
	s := &state{
		stpPort:   stpPort,
		clipaging: true,
		stp:       true,
		stpPorts:  map[int]bool{},
		settings:  map[string]string{},
		profiles:  map[int]*profile{},
		ports:     newPorts(),
		table:     append(listCommands(), portCommands()...),
	}
	for p := 1; p <= count; p++ {
		s.stpPorts[p] = true
	}
	s.saved = s.configCommands()
	return s
}

const (
	success  = "Success.\r\n"
	noSuch   = "The specified access profile does not exist.\r\n\r\nFail!\r\n"
	unknown  = "Available commands:\r\n..                  ?                   config              create\r\ndelete              disable             enable              save\r\nshow\r\n"
	possible = "Next possible completions:\r\n<portlist>          <string>            <value>\r\n"
)

// command is a line that the switch takes.
type command struct {
	form *regexp.Regexp
	do   func(s *state, m []string) string
}

const (
	mask    = `(\d+\.\d+\.\d+\.\d+)`
	byWhich = `(?:profile_id (\d+)|profile_name (\S+))`
)

// listCommands lists them; patterns are of the whole line.
func listCommands() []command {
	line := func(form string, do func(s *state, m []string) string) command {
		return command{regexp.MustCompile("^" + form + "$"), do}
	}
	set := func(key string) func(*state, []string) string {
		return func(s *state, m []string) string {
			s.settings[key] = m[0]
			return success
		}
	}
	return []command{
		line(`(enable|disable) clipaging`, func(s *state, m []string) string {
			s.clipaging = m[1] == "enable"
			return success
		}),
		line(`(enable|disable) stp`, func(s *state, m []string) string {
			s.stp = m[1] == "enable"
			return success
		}),
		line(`config stp ports (\S+) state (enable|disable)`, (*state).stpState),
		line(`config stp ports (\S+) fbpdu (enable|disable)`, func(s *state, m []string) string {
			if parsePortList(m[1]) == nil {
				return possible
			}
			s.settings["stp fbpdu "+m[1]] = m[0]
			return success
		}),
		line(`config stp fbpdu (enable|disable)`, set("stp fbpdu")),
		line(`config traffic control all broadcast (enable|disable)`, set("broadcast")),
		line(`config traffic control all multicast (enable|disable)`, set("multicast")),
		line(`config traffic control all unicast enable action drop threshold 0`, set("unicast")),
		line(`config ports all learning (enable|disable)`, set("learning")),
		line(
			`create access_profile profile_id (\d+) profile_name (\S+) (ethernet vlan 0x[0-9a-fA-F]{1,4})`,
			(*state).createProfile,
		),
		line(
			`create access_profile profile_id (\d+) profile_name (\S+) (ip(?: vlan 0x[0-9a-fA-F]{1,4})?(?: source_ip_mask `+mask+`)?(?: destination_ip_mask `+mask+`)?)`,
			(*state).createProfile,
		),
		line(
			`config access_profile `+byWhich+` add access_id (\d+) (ethernet vlan_id \d+|ip(?: vlan_id \d+)?(?: source_ip `+mask+`)?(?: destination_ip `+mask+`)?) port (\S+) (permit|deny)`,
			(*state).addRule,
		),
		line(`config access_profile `+byWhich+` delete access_id (\d+)`, (*state).deleteRule),
		line(`delete access_profile all`, func(s *state, _ []string) string {
			clear(s.profiles)
			return success
		}),
		line(`delete access_profile `+byWhich, func(s *state, m []string) string {
			id, p := s.findProfile(m[1], m[2])
			if p == nil {
				return noSuch
			}
			delete(s.profiles, id)
			return success
		}),
		line(`save`, func(s *state, _ []string) string {
			s.saved = s.configCommands()
			return "Saving all configurations to NV-RAM...... Done.\r\n"
		}),
		line(`show stp`, func(s *state, _ []string) string {
			return " STP Bridge Global Settings\r\n ---------------------------\r\n STP Status          : " + onOff(s.stp) + "\r\n STP Version         : RSTP\r\n Max Age             : 20\r\n Hello Time          : 2\r\n Forward Delay       : 15\r\n Max Hops            : 20\r\n TX Hold Count       : 6\r\n Forwarding BPDU     : Disabled\r\n"
		}),
		line(`show stp ports (\S+)`, (*state).showSTPPorts),
		line(`show access_profile`, func(s *state, _ []string) string {
			return s.showProfiles()
		}),
		line(`show config current_config`, func(s *state, _ []string) string {
			return strings.ReplaceAll(s.configCommands(), "\n", "\r\n")
		}),
	}
}

func onOff(on bool) string {
	if on {
		return "Enabled"
	}
	return "Disabled"
}

// executeLine carries out one line.
func (s *state) executeLine(line string) string {
	for _, c := range s.table {
		if m := c.form.FindStringSubmatch(line); m != nil {
			return c.do(s, m)
		}
	}
	for _, verb := range []string{"config ", "create ", "delete ", "enable ", "disable ", "show "} {
		if strings.HasPrefix(line, verb) {
			return possible
		}
	}
	return unknown
}

func (s *state) stpState(m []string) string {
	list := parsePortList(m[1])
	if list == nil {
		return possible
	}
	for _, p := range list {
		s.stpPorts[p] = m[2] == "enable"
		if s.stpPort != nil {
			s.stpPort(p, s.stpPorts[p])
		}
	}
	return success
}

func (s *state) showSTPPorts(m []string) string {
	list := parsePortList(m[1])
	if list == nil {
		return possible
	}
	var b strings.Builder
	b.WriteString(" MSTP Port Information\r\n ----------------------\r\n")
	for _, p := range list {
		fmt.Fprintf(
			&b,
			" Port Index    : %-5d,  Hello Time: 2/2 ,  Port STP : %s ,\r\n External PathCost : Auto/200000    , Edge Port : Auto/No , Link Type : Auto/Yes\r\n Port RestrictedRole : False, Port RestrictedTCN : False\r\n Port Forward BPDU : Disabled\r\n\r\n",
			p,
			onOff(s.stpPorts[p]),
		)
	}
	return b.String()
}

func (s *state) createProfile(m []string) string {
	id, err := strconv.Atoi(m[1])
	if err != nil ||
		id < 1 ||
		id > maxProfile ||
		len(m[2]) > 32 ||
		m[3] == "ip" ||
		!areAddresses(m[4:]) {
		return possible
	}
	_, p := s.findProfile("", m[2])
	if p != nil || s.profiles[id] != nil {
		return "The profile ID or name is used already.\r\n\r\nFail!\r\n"
	}
	layer, match, _ := strings.Cut(m[3], " ")
	s.profiles[id] = &profile{
		name:  m[2],
		layer: layer,
		match: match,
		rules: map[int]string{},
	}
	return success
}

func areAddresses(list []string) bool {
	for _, a := range list {
		_, err := netip.ParseAddr(a)
		if a != "" && err != nil {
			return false
		}
	}
	return true
}

func (s *state) findProfile(id, name string) (int, *profile) {
	for n, p := range s.profiles {
		if strconv.Itoa(n) == id || (name != "" && p.name == name) {
			return n, p
		}
	}
	return 0, nil
}

func (s *state) addRule(m []string) string {
	_, p := s.findProfile(m[1], m[2])
	if p == nil {
		return noSuch
	}
	id, err := strconv.Atoi(m[3])
	layer, match, _ := strings.Cut(m[4], " ")
	if err != nil ||
		id < 1 ||
		id > maxRule ||
		layer != p.layer ||
		match == "" ||
		parsePortList(m[7]) == nil ||
		!areAddresses(m[5:7]) {
		return possible
	}
	if _, there := p.rules[id]; there {
		return "The access ID is used already.\r\n\r\nFail!\r\n"
	}
	p.rules[id] = fmt.Sprintf("%s %s port %s %s", layer, match, m[7], m[8])
	return success
}

func (s *state) deleteRule(m []string) string {
	_, p := s.findProfile(m[1], m[2])
	id, _ := strconv.Atoi(m[3]) // digits; too many of them are no rule
	if p == nil || p.rules[id] == "" {
		return noSuch
	}
	delete(p.rules, id)
	return success
}

// showProfiles is the table of access profiles.
func (s *state) showProfiles() string {
	var b strings.Builder
	rules := 0
	for _, p := range s.profiles {
		rules += len(p.rules)
	}
	fmt.Fprintf(
		&b,
		"Access Profile Table\r\n\r\nTotal User Set Rule Entries : %d\r\nTotal Used HW Entries       : %d\r\nTotal Available HW Entries  : %d\r\n\r\n",
		rules,
		rules,
		maxProfile*maxRule-rules,
	)
	for _, id := range slices.Sorted(maps.Keys(s.profiles)) {
		p := s.profiles[id]
		kind := map[string]string{
			"ethernet": "Ethernet",
			"ip":       "IPv4",
		}[p.layer]
		fmt.Fprintf(
			&b,
			"%s\r\nProfile ID: %d    Profile name: %s  Type: %s\r\n\r\nMASK on\r\n    %s\r\n\r\n",
			strings.Repeat("=", 78),
			id,
			p.name,
			kind,
			p.match,
		)
		for _, r := range slices.Sorted(maps.Keys(p.rules)) {
			rule, action, _ := strings.Cut(p.rules[r], " port ")
			list, action, _ := strings.Cut(action, " ")
			_, match, _ := strings.Cut(rule, " ")
			fmt.Fprintf(&b, "%s\r\nRule ID : %d            Ports: %s\r\n\r\nMatch on\r\n    %s\r\n\r\nAction:\r\n    %s\r\n\r\n",
				strings.Repeat("-", 78), r, list, match, map[string]string{
					"permit": "Permit",
					"deny":   "Deny",
				}[action])
		}
	}
	return b.String()
}

// configCommands is the commands that make what there is.
func (s *state) configCommands() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s stp\n", map[bool]string{
		true:  "enable",
		false: "disable",
	}[s.stp])
	for _, p := range slices.Sorted(maps.Keys(s.stpPorts)) {
		if !s.stpPorts[p] {
			fmt.Fprintf(&b, "config stp ports %d-%d state disable\n", p, p)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(s.settings)) {
		b.WriteString(s.settings[k] + "\n")
	}
	b.WriteString(s.portLines())
	for _, id := range slices.Sorted(maps.Keys(s.profiles)) {
		p := s.profiles[id]
		fmt.Fprintf(
			&b,
			"create access_profile profile_id %d profile_name %s %s %s\n",
			id,
			p.name,
			p.layer,
			p.match,
		)
		for _, r := range slices.Sorted(maps.Keys(p.rules)) {
			fmt.Fprintf(
				&b,
				"config access_profile profile_id %d add access_id %d %s\n",
				id,
				r,
				p.rules[r],
			)
		}
	}
	return b.String()
}
