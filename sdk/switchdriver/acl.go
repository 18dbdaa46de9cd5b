package switchdriver

import (
	"context"
	"fmt"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// ACLApplier configures access lists. A profile or rule is named by id, else by
// name. Making one that is there fails with fault.Exists, removing one that is not
// with fault.NotFound; clearing an empty table succeeds.
type ACLApplier interface {
	ApplyACL(ctx context.Context, sw *Switch, action ACLAction, p *ACLProfile, r *ACLRule) error
}

// ACLReader reads the access lists: every profile with its rules. Ids are always reported;
// what the switch does not show is left empty. Masks, and what a rule matches, are reported
// all or not at all: see ACLDiffers. An empty table is no error.
type ACLReader interface {
	ReadACL(ctx context.Context, sw *Switch) ([]*ACLEntry, error)
}

// SettingsApplier applies the settings SDN needs and reports what it did, one
// line a setting.
type SettingsApplier interface {
	ApplySettings(ctx context.Context, s *Settings) (report []string, err error)
}

func aclOperations() []operation {
	return []operation{
		newWriteOperation(func(ctx context.Context, d ACLApplier, r *pluginv1.ApplyAclRequest) (*pluginv1.ApplyAclResponse, error) {
			return &pluginv1.ApplyAclResponse{}, d.ApplyACL(ctx, r.Switch, r.Action, r.Profile, r.Rule)
		}, "ReadAcl", func(ctx context.Context, d ACLReader, r *pluginv1.ApplyAclRequest) (string, error) {
			table, err := d.ReadACL(ctx, r.Switch)
			if err != nil {
				return "", err
			}
			return ACLDiffers(r.Action, r.Profile, r.Rule, table), nil
		}),
		newReadOperation(func(ctx context.Context, d ACLReader, r *pluginv1.ReadAclRequest) (*pluginv1.ReadAclResponse, error) {
			e, err := d.ReadACL(ctx, r.Switch)
			return &pluginv1.ReadAclResponse{Entries: e}, err
		}, validACL),
		newOperation(func(ctx context.Context, d SettingsApplier, r *Settings) (*pluginv1.ApplySettingsResponse, error) { // not read back
			report, err := d.ApplySettings(ctx, r)
			return &pluginv1.ApplySettingsResponse{Report: report}, err
		}),
	}
}

// ApplyACL implements ACLApplier.
func (c *Client) ApplyACL(
	ctx context.Context,
	sw *Switch,
	action ACLAction,
	p *ACLProfile,
	r *ACLRule,
) error {
	_, err := c.rpc.ApplyAcl(
		ctx,
		&pluginv1.ApplyAclRequest{
			Switch:  sw,
			Action:  action,
			Profile: p,
			Rule:    r,
		},
	)
	return fault.FromStatus(err)
}

// ReadACL implements ACLReader.
func (c *Client) ReadACL(ctx context.Context, sw *Switch) ([]*ACLEntry, error) {
	r, err := c.rpc.ReadAcl(ctx, &pluginv1.ReadAclRequest{Switch: sw})
	return r.GetEntries(), fault.FromStatus(err)
}

// ApplySettings implements SettingsApplier.
func (c *Client) ApplySettings(ctx context.Context, s *Settings) ([]string, error) {
	r, err := c.rpc.ApplySettings(ctx, s)
	return r.GetReport(), fault.FromStatus(err)
}

// The bounds of what a driver may show of access lists.
const (
	maxACLs  = 4096
	maxACLID = 65535
)

func validACL(_ *pluginv1.ReadAclRequest, a *pluginv1.ReadAclResponse) error {
	seen, lines := map[uint32]bool{}, 0
	for _, e := range a.Entries {
		p := e.GetProfile()
		id := p.GetProfileId()
		if id < 1 || id > maxACLID || seen[id] {
			return fmt.Errorf("the access profile %d", id)
		}
		seen[p.ProfileId] = true
		if p.GetVlanMask() > 0xfff {
			return fmt.Errorf(
				"the vlan-mask %#x of access profile %d",
				p.GetVlanMask(),
				p.ProfileId,
			)
		}
		if lines += 1 + len(e.Rules); lines > maxACLs {
			return fmt.Errorf("more than %d access profiles and rules", maxACLs)
		}
		for _, r := range e.Rules {
			if r.RuleId < 1 ||
				r.RuleId > maxACLID ||
				len(r.Ports) > maxPort ||
				r.GetVlanId() > MaxVLANID {
				return fmt.Errorf("a rule %d of access profile %d", r.RuleId, p.ProfileId)
			}
		}
	}
	return nil
}
