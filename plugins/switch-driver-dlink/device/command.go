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
func ACL(action switchdriver.ACLAction, p *switchdriver.ACLProfile, r *switchdriver.ACLRule, table []*switchdriver.ACLEntry) (string, error) {
	w := &words{}
	have := switchdriver.FindACL(table, p)
	switch action {
	case switchdriver.ACLClear:
		w.plain("delete access_profile all")
	case switchdriver.ACLCreateProfile:
		if have != nil {
			return "", fault.At(fault.Exists, "profile-id", "there is a profile %d (%s) already; remove it first", p.GetProfileId(), have.Profile.ProfileName)
		}
		if same := switchdriver.FindACL(table, &switchdriver.ACLProfile{ProfileName: p.GetProfileName()}); same != nil {
			return "", fault.At(fault.Exists, "profile-name", "profile %d is called %s already; take another name", same.Profile.ProfileId, p.GetProfileName())
		}
		w.plain("create access_profile profile_id").number(p.GetProfileId()).plain("profile_name").word("profile-name", p.GetProfileName())
		w.profile(p)
	case switchdriver.ACLDeleteProfile:
		if have == nil {
			return "", noProfile(p)
		}
		w.plain("delete access_profile").which(p)
	case switchdriver.ACLSetRule:
		switch {
		case have == nil:
			return "", noProfile(p)
		case switchdriver.FindACLRule(have, r.GetRuleId()) != nil:
			return "", fault.At(fault.Exists, "rule-id", "profile %s has a rule %d already; remove it first", have.Profile.ProfileName, r.GetRuleId())
		}
		if layer := have.Profile.Layer; layer != "" && layer != r.GetLayer() {
			return "", fault.At(fault.Invalid, "acl-layer", "profile %s is of the layer %s, not %.20q", have.Profile.ProfileName, layer, r.GetLayer())
		}
		w.plain("config access_profile").which(p).plain("add access_id").number(r.GetRuleId())
		w.rule(r)
	case switchdriver.ACLDeleteRule:
		switch {
		case have == nil:
			return "", noProfile(p)
		case switchdriver.FindACLRule(have, r.GetRuleId()) == nil:
			return "", fault.At(fault.NotFound, "rule-id", "profile %s has no rule %d", have.Profile.ProfileName, r.GetRuleId())
		}
		w.plain("config access_profile").which(p).plain("delete access_id").number(r.GetRuleId())
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

func (w *words) plain(text string) *words {
	w.list = append(w.list, text)
	return w
}

func (w *words) number(n uint32) *words { return w.plain(strconv.FormatUint(uint64(n), 10)) }

func (w *words) word(field, value string) *words {
	v, err := switchcli.Word(field, value)
	if err != nil && w.err == nil {
		w.err = err
	}
	return w.plain(v)
}

func (w *words) line() (string, error) {
	if w.err != nil {
		return "", w.err
	}
	return switchcli.Line(w.list...)
}

// which names a profile; its id goes before its name.
func (w *words) which(p *switchdriver.ACLProfile) *words {
	if p.GetProfileId() != 0 {
		return w.plain("profile_id").number(p.GetProfileId())
	}
	return w.plain("profile_name").word("profile-name", p.GetProfileName())
}

// address adds a keyword with an address if there is one.
func (w *words) address(keyword, field, value string) {
	if value != "" {
		w.plain(keyword).word(field, value)
	}
}

func (w *words) profile(p *switchdriver.ACLProfile) {
	w.plain(layers(p.GetLayer()))
	if p.VlanMask != nil {
		w.plain(fmt.Sprintf("vlan 0x%04x", p.GetVlanMask()))
	}
	w.address("source_ip_mask", "src-ip-mask", p.GetSrcIpMask())
	w.address("destination_ip_mask", "dst-ip-mask", p.GetDstIpMask())
}

func (w *words) rule(r *switchdriver.ACLRule) {
	w.plain(layers(r.GetLayer()))
	if r.VlanId != nil {
		w.plain("vlan_id").number(r.GetVlanId())
	}
	w.address("source_ip", "src-ip", r.GetSrcIp())
	w.address("destination_ip", "dst-ip", r.GetDstIp())
	list := make([]string, len(r.GetPorts()))
	for i, p := range r.GetPorts() {
		list[i] = strconv.FormatUint(uint64(p), 10)
	}
	w.plain("port").word("port-list", strings.Join(list, ","))
	w.plain(map[string]string{switchdriver.ActionPermit: "permit", switchdriver.ActionDeny: "deny"}[r.GetAction()])
}

func layers(layer string) string {
	return map[string]string{switchdriver.LayerEthernet: "ethernet", switchdriver.LayerIP: "ip"}[layer]
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
