package switchdriver

import (
	"context"
	"fmt"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// PortReader reads the ports (dot1dBasePortTable, ifTable, ifXTable).
type PortReader interface {
	ReadPorts(ctx context.Context, sw *Switch) ([]*Port, error)
}

// NeighborReader reads what the switch has learned of its neighbours (LLDP-MIB).
type NeighborReader interface {
	ReadNeighbors(ctx context.Context, sw *Switch) ([]*Neighbor, error)
}

func portOperations() []operation {
	return []operation{
		newReadOperation(func(ctx context.Context, d PortReader, r *pluginv1.ReadPortsRequest) (*pluginv1.ReadPortsResponse, error) {
			p, err := d.ReadPorts(ctx, r.Switch)
			return &pluginv1.ReadPortsResponse{Ports: p}, err
		}, validPorts),
		newReadOperation(func(ctx context.Context, d NeighborReader, r *pluginv1.ReadNeighborsRequest) (*pluginv1.ReadNeighborsResponse, error) {
			n, err := d.ReadNeighbors(ctx, r.Switch)
			return &pluginv1.ReadNeighborsResponse{Neighbors: n}, err
		}, validNeighbors),
	}
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

func validPorts(_ *pluginv1.ReadPortsRequest, a *pluginv1.ReadPortsResponse) error {
	seen := map[uint32]bool{}
	for _, p := range a.Ports {
		if !validPort(p.Number) || seen[p.Number] || !validMAC(p.Mac) {
			return fmt.Errorf("the port %v", p)
		}
		seen[p.Number] = true
	}
	return nil
}

// The bounds of what a driver may report of neighbours: how many, and an identifier in octets.
const (
	maxNeighbors = 4096
	maxID        = 255
)

func validNeighbors(_ *pluginv1.ReadNeighborsRequest, a *pluginv1.ReadNeighborsResponse) error {
	if len(a.Neighbors) > maxNeighbors {
		return fmt.Errorf("%d neighbours", len(a.Neighbors))
	}
	for _, n := range a.Neighbors {
		if len(n.ChassisId) > maxID || len(n.PortId) > maxID {
			return fmt.Errorf("a neighbour with an identifier of more than %d octets", maxID)
		}
	}
	return nil
}

// STPReader reads spanning-tree state; port 0 asks for all ports.
type STPReader interface {
	ReadSTP(ctx context.Context, sw *Switch, port uint32) (ports []*STPPort, enabled bool, err error)
}

// STPWriter switches spanning tree on or off; port 0 is the whole switch. A port
// that is not there: fault.NotFound.
type STPWriter interface {
	WriteSTP(ctx context.Context, sw *Switch, port uint32, enable bool) error
}

func stpOperations() []operation {
	return []operation{
		newReadOperation(func(ctx context.Context, d STPReader, r *pluginv1.ReadStpRequest) (*pluginv1.ReadStpResponse, error) {
			p, on, err := d.ReadSTP(ctx, r.Switch, r.Port)
			return &pluginv1.ReadStpResponse{
				Ports:   p,
				Enabled: on,
			}, err
		}, validSTP),
		newWriteOperation(func(ctx context.Context, d STPWriter, r *pluginv1.WriteStpRequest) (*pluginv1.WriteStpResponse, error) {
			return &pluginv1.WriteStpResponse{}, d.WriteSTP(ctx, r.Switch, r.Port, r.Enable)
		}, "ReadStp", func(ctx context.Context, d STPReader, r *pluginv1.WriteStpRequest) (string, error) {
			ports, on, err := d.ReadSTP(ctx, r.Switch, r.Port)
			if r.Port != 0 && len(ports) == 1 {
				on = ports[0].Enabled
			}
			if err == nil && on != r.Enable {
				return fmt.Sprintf("spanning tree enabled %v", on), nil
			}
			return "", err
		}),
	}
}

// ReadSTP implements STPReader.
func (c *Client) ReadSTP(ctx context.Context, sw *Switch, port uint32) ([]*STPPort, bool, error) {
	r, err := c.rpc.ReadStp(ctx, &pluginv1.ReadStpRequest{
		Switch: sw,
		Port:   port,
	})
	return r.GetPorts(), r.GetEnabled(), fault.FromStatus(err)
}

// WriteSTP implements STPWriter.
func (c *Client) WriteSTP(ctx context.Context, sw *Switch, port uint32, enable bool) error {
	_, err := c.rpc.WriteStp(ctx, &pluginv1.WriteStpRequest{
		Switch: sw,
		Port:   port,
		Enable: enable,
	})
	return fault.FromStatus(err)
}

// The states of a port in a spanning tree (dot1dStpPortState, RFC 4188).
const (
	STPDisabled   int32 = 1
	STPBlocking   int32 = 2
	STPListening  int32 = 3
	STPLearning   int32 = 4
	STPForwarding int32 = 5
	STPBroken     int32 = 6
)

func validSTP(r *pluginv1.ReadStpRequest, a *pluginv1.ReadStpResponse) error {
	n := len(a.Ports)
	if n > maxPort || r.Port != 0 && n != 1 {
		return fmt.Errorf("%d ports of a spanning tree", n)
	}
	for _, p := range a.Ports {
		if !validPort(p.Port) || r.Port != 0 && p.Port != r.Port || p.State < 0 || p.State > STPBroken ||
			len(p.DesignatedRoot) != 0 && len(p.DesignatedRoot) != 8 {
			return fmt.Errorf("the spanning tree port %v", p)
		}
	}
	return nil
}
