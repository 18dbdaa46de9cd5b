package service

import (
	"context"
	"slices"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/writes"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/operations"
	"ctl.internal/sdk/switchdriver"
)

func (s *Service) aclRPCs(m operations.Mux) {
	registerResultHandler(m, "acl:create-acl-profile", s.applyACL(switchdriver.ACLCreateProfile))
	registerResultHandler(m, "acl:del-acl-profile", s.applyACL(switchdriver.ACLDeleteProfile))
	registerResultHandler(m, "acl:set-acl-rule", s.applyACL(switchdriver.ACLSetRule))
	registerResultHandler(m, "acl:del-acl-rule", s.applyACL(switchdriver.ACLDeleteRule))
	registerResultHandler(m, "acl:clear-acl-table", s.applyACL(switchdriver.ACLClear))
}

// aclIn is the input of all RPCs of module acl; each has some of the leaves.
type aclIn struct {
	Node        mib.MAC  `json:"nodeId"`
	ProfileID   uint32   `json:"profile-id"`
	ProfileName string   `json:"profile-name"`
	Layer       string   `json:"acl-layer"`
	VLANMask    *uint32  `json:"vlan-mask"`
	SrcMask     string   `json:"src-ip-mask"`
	DstMask     string   `json:"dst-ip-mask"`
	RuleID      uint32   `json:"rule-id"`
	RuleName    string   `json:"rule-name"`
	Ports       []uint32 `json:"port-list"`
	VLAN        *uint32  `json:"vlan-id"`
	Src         string   `json:"src-ip"`
	Dst         string   `json:"dst-ip"`
	Action      string   `json:"acl-action"`
}

// applyACL makes the handler of an action on access lists.
func (s *Service) applyACL(action switchdriver.ACLAction) func(context.Context, aclIn) error {
	return func(ctx context.Context, in aclIn) error {
		asked := &pluginv1.ApplyAclRequest{Action: action}
		if action != switchdriver.ACLClear {
			asked.Profile = &switchdriver.ACLProfile{
				ProfileId:   in.ProfileID,
				ProfileName: in.ProfileName,
				Layer:       in.Layer,
				VlanMask:    in.VLANMask,
				SrcIpMask:   in.SrcMask,
				DstIpMask:   in.DstMask,
			}
		}
		if action == switchdriver.ACLSetRule || action == switchdriver.ACLDeleteRule {
			slices.Sort(in.Ports)
			asked.Rule = &switchdriver.ACLRule{
				RuleId:   in.RuleID,
				RuleName: in.RuleName,
				Ports:    slices.Compact(in.Ports),
				Layer:    in.Layer,
				VlanId:   in.VLAN,
				SrcIp:    in.Src,
				DstIp:    in.Dst,
				Action:   in.Action,
			}
		}
		if err := switchdriver.CheckACL(action, asked.Profile, asked.Rule); err != nil {
			return err
		}
		sw, err := s.switchOf("nodeId", in.Node)
		if err == nil {
			_, err = s.writer.Do(
				ctx,
				sw,
				writes.Operation{
					What:    "access lists: " + action.String(),
					Request: asked,
				},
			)
		}
		return err
	}
}
