package device

import (
	"fmt"
	"strconv"
	"strings"

	"ctl.internal/internal/switchcli"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// ShowACL shows the access profiles with their rules.
const ShowACL = "show access_profile"

// ACL is the command of a request on access lists. table is what the switch has:
// making what is there and removing what is not is refused. Values were checked by
// switchdriver.CheckACL; each becomes one word.
func ACL(
	action switchdriver.ACLAction,
	p *switchdriver.ACLProfile,
	r *switchdriver.ACLRule,
	table []*switchdriver.ACLEntry,
) (string, error) {
	w := &words{}
	have := switchdriver.FindACL(table, p)
	switch action {
	case switchdriver.ACLClear:
		w.addPlain("delete access_profile all")
	case switchdriver.ACLCreateProfile:
		if have != nil {
			return "", fault.At(
				fault.Exists,
				"profile-id",
				"there is a profile %d (%s) already; remove it first",
				p.GetProfileId(),
				have.Profile.ProfileName,
			)
		}
		same := switchdriver.FindACL(
			table,
			&switchdriver.ACLProfile{ProfileName: p.GetProfileName()},
		)
		if same != nil {
			return "", fault.At(
				fault.Exists,
				"profile-name",
				"profile %d is called %s already; take another name",
				same.Profile.ProfileId,
				p.GetProfileName(),
			)
		}
		w.addPlain("create access_profile profile_id").addNumber(p.GetProfileId()).addPlain("profile_name").addWord("profile-name", p.GetProfileName())
		w.addProfile(p)
	case switchdriver.ACLDeleteProfile:
		if have == nil {
			return "", noProfile(p)
		}
		w.addPlain("delete access_profile").addProfileRef(p)
	case switchdriver.ACLSetRule:
		switch {
		case have == nil:
			return "", noProfile(p)
		case switchdriver.FindACLRule(have, r.GetRuleId()) != nil:
			return "", fault.At(
				fault.Exists,
				"rule-id",
				"profile %s has a rule %d already; remove it first",
				have.Profile.ProfileName,
				r.GetRuleId(),
			)
		}
		layer := have.Profile.Layer
		if layer != "" && layer != r.GetLayer() {
			return "", fault.At(
				fault.Invalid,
				"acl-layer",
				"profile %s is of the layer %s, not %.20q",
				have.Profile.ProfileName,
				layer,
				r.GetLayer(),
			)
		}
		w.addPlain("config access_profile").addProfileRef(p).addPlain("add access_id").addNumber(r.GetRuleId())
		w.addRule(r)
	case switchdriver.ACLDeleteRule:
		switch {
		case have == nil:
			return "", noProfile(p)
		case switchdriver.FindACLRule(have, r.GetRuleId()) == nil:
			return "", fault.At(
				fault.NotFound,
				"rule-id",
				"profile %s has no rule %d",
				have.Profile.ProfileName,
				r.GetRuleId(),
			)
		}
		w.addPlain("config access_profile").addProfileRef(p).addPlain("delete access_id").addNumber(r.GetRuleId())
	default:
		return "", fault.At(fault.Invalid, "action", "the action %d is not known", int32(action))
	}
	return w.line()
}

func noProfile(p *switchdriver.ACLProfile) error {
	if p.GetProfileId() != 0 {
		return fault.At(fault.NotFound, "profile-id", "there is no profile %d", p.GetProfileId())
	}
	return fault.At(fault.NotFound, "profile-name", "there is no profile %s", p.GetProfileName())
}

// words builds a line.
type words struct {
	list []string
	err  error
}

func (w *words) addPlain(text string) *words {
	w.list = append(w.list, text)
	return w
}

func (w *words) addNumber(n uint32) *words {
	return w.addPlain(strconv.FormatUint(uint64(n), 10))
}

func (w *words) addWord(field, value string) *words {
	v, err := switchcli.Word(field, value)
	if err != nil && w.err == nil {
		w.err = err
	}
	return w.addPlain(v)
}

func (w *words) line() (string, error) {
	if w.err != nil {
		return "", w.err
	}
	return switchcli.Line(w.list...)
}

// addProfileRef names a profile; its id goes before its name.
func (w *words) addProfileRef(p *switchdriver.ACLProfile) *words {
	if p.GetProfileId() != 0 {
		return w.addPlain("profile_id").addNumber(p.GetProfileId())
	}
	return w.addPlain("profile_name").addWord("profile-name", p.GetProfileName())
}

// addAddress adds a keyword with an address if there is one.
func (w *words) addAddress(keyword, field, value string) {
	if value != "" {
		w.addPlain(keyword).addWord(field, value)
	}
}

func (w *words) addProfile(p *switchdriver.ACLProfile) {
	w.addPlain(layerKeyword(p.GetLayer()))
	if p.VlanMask != nil {
		w.addPlain(fmt.Sprintf("vlan 0x%04x", p.GetVlanMask()))
	}
	w.addAddress("source_ip_mask", "src-ip-mask", p.GetSrcIpMask())
	w.addAddress("destination_ip_mask", "dst-ip-mask", p.GetDstIpMask())
}

func (w *words) addRule(r *switchdriver.ACLRule) {
	w.addPlain(layerKeyword(r.GetLayer()))
	if r.VlanId != nil {
		w.addPlain("vlan_id").addNumber(r.GetVlanId())
	}
	w.addAddress("source_ip", "src-ip", r.GetSrcIp())
	w.addAddress("destination_ip", "dst-ip", r.GetDstIp())
	list := make([]string, len(r.GetPorts()))
	for i, p := range r.GetPorts() {
		list[i] = strconv.FormatUint(uint64(p), 10)
	}
	w.addPlain("port").addWord("port-list", strings.Join(list, ","))
	w.addPlain(map[string]string{
		switchdriver.ActionPermit: "permit",
		switchdriver.ActionDeny:   "deny",
	}[r.GetAction()])
}

func layerKeyword(layer string) string {
	return map[string]string{
		switchdriver.LayerEthernet: "ethernet",
		switchdriver.LayerIP:       "ip",
	}[layer]
}

// ShowSTP shows the spanning tree of the switch, or of a port.
func ShowSTP(port uint32) string {
	if port == 0 {
		return "show stp"
	}
	return fmt.Sprintf("show stp ports %d-%d", port, port)
}

// STP switches the spanning tree of the switch (port 0) or of a port on or off.
func STP(port uint32, on bool) string {
	verb := "disable"
	if on {
		verb = "enable"
	}
	if port == 0 {
		return verb + " stp"
	}
	return fmt.Sprintf("config stp ports %d-%d state %s", port, port, verb)
}

// Setting is one of the settings that SDN needs, and the command of it.
type Setting struct{ What, Line string }

// settingsOf are those that are asked for, in the order of the contract.
func settingsOf(s *switchdriver.Settings) (out []Setting) {
	for _, x := range []struct {
		asked bool
		Setting
	}{
		{s.GetDisableStp(), Setting{"spanning tree", STP(0, false)}},
		{s.GetDisableBpduFlooding(), Setting{"BPDU flooding", "config stp fbpdu disable"}},
		{s.GetDisableBroadcastFlooding(), Setting{"broadcast flooding", "config traffic control all broadcast disable"}},
		{s.GetDisableMulticastFlooding(), Setting{"multicast flooding", "config traffic control all multicast disable"}},
		{s.GetDisableUnknownFlooding(), Setting{"flooding of unknown addresses", "config traffic control all unicast enable action drop threshold 0"}},
		{s.GetDisableLearning(), Setting{"learning", "config ports all learning disable"}},
	} {
		if x.asked {
			out = append(out, x.Setting)
		}
	}
	return out
}
