package switchdriver

import (
	"cmp"
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
	i := slices.IndexFunc(e.GetRules(), func(r *ACLRule) bool {
		return r.GetRuleId() == id
	})
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
	if have == nil {
		return fmt.Sprintf("no access profile %d", want.GetProfileId())
	}
	got := have.GetProfile()
	differs := cmp.Or(otherValue(
		"name",
		want.GetProfileName(),
		got.GetProfileName(),
	), otherValue("layer", want.GetLayer(), got.GetLayer()),
		masksOf(want).firstDifference(
			masksOf(got),
			matches{},
			[3]string{"vlan-mask", "src-ip-mask", "dst-ip-mask"},
		))
	if differs == "" {
		return ""
	}
	return fmt.Sprintf("access profile %d with %s", got.GetProfileId(), differs)
}

func ruleDiffers(want *ACLRule, have *ACLEntry, got *ACLRule) string {
	switch {
	case have == nil:
		return "no such access profile"
	case got == nil:
		return fmt.Sprintf(
			"no rule %d in access profile %d",
			want.GetRuleId(),
			have.GetProfile().GetProfileId(),
		)
	}
	ports := ""
	p := got.GetPorts()
	if len(p) > 0 && !slices.Equal(sortedPorts(want.GetPorts()), sortedPorts(p)) {
		ports = fmt.Sprintf("the ports %.60s", fmt.Sprint(p))
	}
	differs := cmp.Or(otherValue("name", want.GetRuleName(), got.GetRuleName()), otherValue("layer", want.GetLayer(), got.GetLayer()),
		otherValue("action", want.GetAction(), got.GetAction()), ports,
		valuesOf(want).firstDifference(
			valuesOf(got),
			masksOf(have.GetProfile()),
			[3]string{"vlan-id", "src-ip", "dst-ip"},
		))
	if differs == "" {
		return ""
	}
	return fmt.Sprintf(
		"rule %d of access profile %d with %s",
		got.GetRuleId(),
		have.GetProfile().GetProfileId(),
		differs,
	)
}

// otherValue compares what the switch shows, if it shows it.
func otherValue(what, want, got string) string {
	if got == "" || want == "" || want == got {
		return ""
	}
	return fmt.Sprintf("the %s %.40q", what, got)
}
