package switchdriver

import (
	"regexp"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// What ApplyACL is asked to do.
const (
	ACLCreateProfile = pluginv1.ApplyAclRequest_ACTION_CREATE_PROFILE
	ACLDeleteProfile = pluginv1.ApplyAclRequest_ACTION_DELETE_PROFILE
	ACLSetRule       = pluginv1.ApplyAclRequest_ACTION_SET_RULE
	ACLDeleteRule    = pluginv1.ApplyAclRequest_ACTION_DELETE_RULE
	ACLClear         = pluginv1.ApplyAclRequest_ACTION_CLEAR
)

// The layers and the actions of an access list, as AclProfile and AclRule write them.
const (
	LayerEthernet = "ETHERNET"
	LayerIP       = "IP"
	ActionPermit  = "PERMIT"
	ActionDeny    = "DENY"
)

// aclName is what can be the name of a profile or rule: it reaches command lines,
// so blanks, quotes and everything that separates commands are out.
var aclName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:/,+@=-]{0,31}$`)

// CheckACL refuses a request that no switch can carry out: an unknown action, a
// profile or rule that is not named, a layer without what it matches, masks and
// addresses that are none, names with other than letters, digits and _ . : / , + - @ =, or more than 32.
// All faults are reported at once: fault.Missing for what is absent, else fault.Invalid.
func CheckACL(action ACLAction, p *ACLProfile, r *ACLRule) error {
	c := &aclCheck{}
	switch action {
	case ACLClear:
	case ACLCreateProfile:
		c.checkName("profile-name", p.GetProfileName())
		if p.GetProfileId() == 0 {
			c.addMissing("profile-id")
		}
		if p.GetProfileName() == "" {
			c.addMissing("profile-name")
		}
		if p.GetVlanMask() > 0xfff {
			c.addInvalid("vlan-mask", "%#x is no mask of a VLAN id, 0 to 0xfff", p.GetVlanMask())
		}
		c.checkMatchLayer(
			p.GetLayer(),
			"vlan-mask",
			p != nil && p.VlanMask != nil,
			"src-ip-mask",
			p.GetSrcIpMask(),
			"dst-ip-mask",
			p.GetDstIpMask(),
		)
	case ACLDeleteProfile:
		c.checkProfile(p)
	case ACLSetRule:
		c.checkProfile(p)
		c.checkRule(r)
		c.checkRuleContent(r)
	case ACLDeleteRule:
		c.checkProfile(p)
		c.checkRule(r)
	default:
		c.addInvalid(
			"action",
			"the action %d is not one of create-profile, delete-profile, set-rule, delete-rule, clear",
			int32(action),
		)
	}
	return c.faults.Err()
}

// aclCheck collects everything that is wrong with a request.
type aclCheck struct{ faults fault.List }

func (c *aclCheck) addInvalid(leaf, format string, args ...any) {
	c.faults = append(c.faults, fault.At(fault.Invalid, leaf, format, args...))
}

func (c *aclCheck) addMissing(leaf string) {
	c.faults = append(c.faults, fault.At(fault.Missing, leaf, "%s is missing", leaf))
}

func (c *aclCheck) checkName(leaf, name string) {
	if name != "" && !aclName.MatchString(name) {
		c.addInvalid(leaf, "%.40q is no name: up to 32 letters, digits and _ . : / , + - @ =, the first a letter, a digit or _",
			name)
	}
}

// checkProfile checks how a profile is named.
func (c *aclCheck) checkProfile(p *ACLProfile) {
	c.checkName("profile-name", p.GetProfileName())
	if p.GetProfileId() == 0 && p.GetProfileName() == "" {
		c.faults = append(
			c.faults,
			fault.At(fault.Missing, "profile-id", "profile-id or profile-name is needed"),
		)
	}
}

// checkRule checks how a rule is named.
func (c *aclCheck) checkRule(r *ACLRule) {
	c.checkName("rule-name", r.GetRuleName())
	if r.GetRuleId() == 0 {
		c.addMissing("rule-id")
	}
}

// checkRuleContent checks what a rule says.
func (c *aclCheck) checkRuleContent(r *ACLRule) {
	if len(r.GetPorts()) == 0 {
		c.addMissing("port-list")
	}
	for _, p := range r.GetPorts() {
		if p == 0 || p > 0xffff {
			c.addInvalid("port-list", "%d is no port", p)
		}
	}
	if r != nil && r.VlanId != nil {
		c.faults = append(c.faults, fault.All(CheckVLANID(*r.VlanId))...)
	}
	switch r.GetAction() {
	case ActionPermit, ActionDeny:
	case "":
		c.addMissing("acl-action")
	default:
		c.addInvalid(
			"acl-action",
			"%.20q is not one of %s, %s",
			r.GetAction(),
			ActionPermit,
			ActionDeny,
		)
	}
	c.checkMatchLayer(
		r.GetLayer(),
		"vlan-id",
		r != nil && r.VlanId != nil,
		"src-ip",
		r.GetSrcIp(),
		"dst-ip",
		r.GetDstIp(),
	)
}

// checkMatchLayer checks that a layer has what it looks at.
func (c *aclCheck) checkMatchLayer(
	layer, vlanLeaf string,
	vlan bool,
	srcLeaf, src, dstLeaf, dst string,
) {
	for _, a := range [][2]string{{srcLeaf, src}, {dstLeaf, dst}} {
		err := CheckIPv4(a[0], a[1])
		if a[1] != "" && err != nil {
			c.faults = append(c.faults, fault.All(err)...)
		} else if a[1] != "" && layer == LayerEthernet {
			c.addInvalid(a[0], "a profile of layer %s compares the VLAN only", layer)
		}
	}
	switch {
	case layer == "":
		c.addMissing("acl-layer")
	case layer != LayerEthernet && layer != LayerIP:
		c.addInvalid("acl-layer", "%.20q is not one of %s, %s", layer, LayerEthernet, LayerIP)
	case layer == LayerEthernet && !vlan:
		c.addMissing(vlanLeaf)
	case !vlan && src == "" && dst == "":
		c.faults = append(c.faults, fault.At(fault.Missing, vlanLeaf,
			"layer %s needs the VLAN, the source or the destination, at least one of them", layer))
	}
}
