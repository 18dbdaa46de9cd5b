package switchdriver

import (
	"fmt"
	"slices"
)

// FindACL finds the profile that a request names in a table: by its id, else by its
// name; nil when it is not there.
func FindACL(table []*ACLEntry, p *ACLProfile) *ACLEntry {
	i := slices.IndexFunc(table, func(e *ACLEntry) bool {
		if p.GetProfileId() != 0 {
			return e.GetProfile().GetProfileId() == p.GetProfileId()
		}
		return p.GetProfileName() != "" && e.GetProfile().GetProfileName() == p.GetProfileName()
	})
	if i < 0 {
		return nil
	}
	return table[i]
}

// FindACLRule finds a rule of a profile by its id; nil when it is not there.
func FindACLRule(e *ACLEntry, id uint32) *ACLRule {
	i := slices.IndexFunc(e.GetRules(), func(r *ACLRule) bool { return r.GetRuleId() == id })
	if i < 0 {
		return nil
	}
	return e.Rules[i]
}

// ACLDiffers reports how a table does not show that a request was carried out, in words
// that follow "it shows"; empty if it does. What the table leaves empty is not compared;
// but where it shows anything of what a profile masks or a rule matches, all of it is.
func ACLDiffers(action ACLAction, p *ACLProfile, r *ACLRule, table []*ACLEntry) string {
	have := FindACL(table, p)
	rule := FindACLRule(have, r.GetRuleId())
	switch action {
	case ACLClear:
		if len(table) > 0 {
			return fmt.Sprintf("%d access profiles still", len(table))
		}
	case ACLCreateProfile:
		return profileDiffers(p, have)
	case ACLDeleteProfile:
		if have != nil {
			return fmt.Sprintf("access profile %d still", have.GetProfile().GetProfileId())
		}
	case ACLSetRule:
		return ruleDiffers(r, have, rule)
	case ACLDeleteRule:
		if rule != nil {
			return fmt.Sprintf("rule %d still", rule.GetRuleId())
		}
	}
	return ""
}

func profileDiffers(want *ACLProfile, have *ACLEntry) string {
	got := have.GetProfile()
	differs := ""
	switch {
	case have == nil:
		return fmt.Sprintf("no access profile %d", want.GetProfileId())
	case other(want.GetProfileName(), got.GetProfileName()):
		differs = fmt.Sprintf("the name %.40q", got.GetProfileName())
	case other(want.GetLayer(), got.GetLayer()):
		differs = fmt.Sprintf("the layer %.20q", got.GetLayer())
	default:
		differs = masksOf(want).differs(masksOf(got), matches{}, [3]string{"vlan-mask", "src-ip-mask", "dst-ip-mask"})
	}
	if differs == "" {
		return ""
	}
	return fmt.Sprintf("access profile %d with %s", got.GetProfileId(), differs)
}

func ruleDiffers(want *ACLRule, have *ACLEntry, got *ACLRule) string {
	differs := ""
	switch {
	case have == nil:
		return "no such access profile"
	case got == nil:
		return fmt.Sprintf("no rule %d in access profile %d", want.GetRuleId(), have.GetProfile().GetProfileId())
	case other(want.GetRuleName(), got.GetRuleName()):
		differs = fmt.Sprintf("with the name %.40q", got.GetRuleName())
	case other(want.GetLayer(), got.GetLayer()):
		differs = fmt.Sprintf("with the layer %.20q", got.GetLayer())
	case other(want.GetAction(), got.GetAction()):
		differs = fmt.Sprintf("with the action %.20q", got.GetAction())
	case len(got.GetPorts()) > 0 && !slices.Equal(slices.Sorted(slices.Values(want.GetPorts())), slices.Sorted(slices.Values(got.GetPorts()))):
		differs = fmt.Sprintf("for the ports %.60s", fmt.Sprint(got.GetPorts()))
	default:
		if d := valuesOf(want).differs(valuesOf(got), masksOf(have.GetProfile()), [3]string{"vlan-id", "src-ip", "dst-ip"}); d != "" {
			differs = "with " + d
		}
	}
	if differs == "" {
		return ""
	}
	return fmt.Sprintf("rule %d of access profile %d %s", got.GetRuleId(), have.GetProfile().GetProfileId(), differs)
}

// other compares what the switch shows, if it shows it.
func other(want, got string) bool { return got != "" && want != "" && want != got }
