package switchdriver

import (
	"context"

	"google.golang.org/grpc"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// Client is a driver in another process. It satisfies every operation interface;
// ask Describe which ones the driver really has: the others fail with
// fault.Unsupported.
type Client struct{ rpc pluginv1.SwitchDriverClient }

// NewClient returns a client on conn, usually host.Switchboard.Dial.
func NewClient(conn grpc.ClientConnInterface) *Client {
	return &Client{rpc: pluginv1.NewSwitchDriverClient(conn)}
}

// Describe returns what the driver matches and the names of its operations.
func (c *Client) Describe(ctx context.Context) (Match, []string, error) {
	r, err := c.rpc.DescribeDriver(ctx, &pluginv1.DescribeDriverRequest{})
	if err != nil {
		return Match{}, nil, fault.FromStatus(err)
	}
	return Match{Models: r.Models, SysObjectIDs: r.SysObjectIds, SysDescr: r.SysDescr}, r.Operations, nil
}

// ReadVLANs implements VLANReader.
func (c *Client) ReadVLANs(ctx context.Context, sw *Switch) ([]*VLAN, error) {
	r, err := c.rpc.ReadVlans(ctx, &pluginv1.ReadVlansRequest{Switch: sw})
	return r.GetVlans(), fault.FromStatus(err)
}

// WriteVLAN implements VLANWriter.
func (c *Client) WriteVLAN(ctx context.Context, sw *Switch, v *VLAN, create, setPorts bool) (*VLAN, error) {
	r, err := c.rpc.WriteVlan(ctx, &pluginv1.WriteVlanRequest{Switch: sw, Vlan: v, Create: create, SetPorts: setPorts})
	return r.GetVlan(), fault.FromStatus(err)
}

// DeleteVLAN implements VLANWriter.
func (c *Client) DeleteVLAN(ctx context.Context, sw *Switch, vlanID uint32) error {
	_, err := c.rpc.DeleteVlan(ctx, &pluginv1.DeleteVlanRequest{Switch: sw, VlanId: vlanID})
	return fault.FromStatus(err)
}

// ReadFDB implements FDBReader.
func (c *Client) ReadFDB(ctx context.Context, sw *Switch, vlanID uint32, mac uint64) ([]*FDBEntry, error) {
	r, err := c.rpc.ReadFdb(ctx, &pluginv1.ReadFdbRequest{Switch: sw, VlanId: vlanID, Mac: mac})
	return r.GetEntries(), fault.FromStatus(err)
}

// WriteFDBEntry implements FDBWriter.
func (c *Client) WriteFDBEntry(ctx context.Context, sw *Switch, e *FDBEntry) error {
	_, err := c.rpc.WriteFdbEntry(ctx, &pluginv1.WriteFdbEntryRequest{Switch: sw, Entry: e})
	return fault.FromStatus(err)
}

// DeleteFDBEntry implements FDBWriter.
func (c *Client) DeleteFDBEntry(ctx context.Context, sw *Switch, vlanID uint32, mac uint64) error {
	_, err := c.rpc.DeleteFdbEntry(ctx, &pluginv1.DeleteFdbEntryRequest{Switch: sw, VlanId: vlanID, Mac: mac})
	return fault.FromStatus(err)
}

// ReadPorts implements PortReader.
func (c *Client) ReadPorts(ctx context.Context, sw *Switch) ([]*Port, error) {
	r, err := c.rpc.ReadPorts(ctx, &pluginv1.ReadPortsRequest{Switch: sw})
	return r.GetPorts(), fault.FromStatus(err)
}

// ReadNeighbors implements NeighborReader.
func (c *Client) ReadNeighbors(ctx context.Context, sw *Switch) ([]*Neighbor, error) {
	r, err := c.rpc.ReadNeighbors(ctx, &pluginv1.ReadNeighborsRequest{Switch: sw})
	return r.GetNeighbors(), fault.FromStatus(err)
}

// ReadSTP implements STPReader.
func (c *Client) ReadSTP(ctx context.Context, sw *Switch, port uint32) ([]*STPPort, bool, error) {
	r, err := c.rpc.ReadStp(ctx, &pluginv1.ReadStpRequest{Switch: sw, Port: port})
	return r.GetPorts(), r.GetEnabled(), fault.FromStatus(err)
}

// WriteSTP implements STPWriter.
func (c *Client) WriteSTP(ctx context.Context, sw *Switch, port uint32, enable bool) error {
	_, err := c.rpc.WriteStp(ctx, &pluginv1.WriteStpRequest{Switch: sw, Port: port, Enable: enable})
	return fault.FromStatus(err)
}

// ReadARP implements ARPReader.
func (c *Client) ReadARP(ctx context.Context, sw *Switch, address string) ([]*ARPEntry, error) {
	r, err := c.rpc.ReadArp(ctx, &pluginv1.ReadArpRequest{Switch: sw, IpAddress: address})
	return r.GetEntries(), fault.FromStatus(err)
}

// WriteARPEntry implements ARPWriter.
func (c *Client) WriteARPEntry(ctx context.Context, sw *Switch, e *ARPEntry, prefixLength uint32) error {
	_, err := c.rpc.WriteArpEntry(ctx, &pluginv1.WriteArpEntryRequest{Switch: sw, Entry: e, PrefixLength: prefixLength})
	return fault.FromStatus(err)
}

// DeleteARPEntry implements ARPWriter.
func (c *Client) DeleteARPEntry(ctx context.Context, sw *Switch, address string) error {
	_, err := c.rpc.DeleteArpEntry(ctx, &pluginv1.DeleteArpEntryRequest{Switch: sw, IpAddress: address})
	return fault.FromStatus(err)
}

// ApplyACL implements ACLApplier.
func (c *Client) ApplyACL(ctx context.Context, sw *Switch, action ACLAction, p *ACLProfile, r *ACLRule) error {
	_, err := c.rpc.ApplyAcl(ctx, &pluginv1.ApplyAclRequest{Switch: sw, Action: action, Profile: p, Rule: r})
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
