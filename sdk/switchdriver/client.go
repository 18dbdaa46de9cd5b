package switchdriver

import (
	"context"

	"google.golang.org/grpc"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// Client is a driver in another process. It has the methods of every operation; ask Describe which ones the driver
// really has: the others fail with fault.Unsupported.
type Client struct{ rpc pluginv1.SwitchDriverClient }

// NewClient returns a client on conn, usually host.Switchboard.Dial.
func NewClient(conn grpc.ClientConnInterface) *Client {
	return &Client{rpc: pluginv1.NewSwitchDriverClient(conn)}
}

// Match is empty: see Describe.
func (c *Client) Match() Match { return Match{} }

// Describe returns what the driver matches and the names of its operations.
func (c *Client) Describe(ctx context.Context) (Match, []string, error) {
	r, err := c.rpc.DescribeDriver(ctx, &pluginv1.DescribeDriverRequest{})
	if err != nil {
		return Match{}, nil, fault.FromStatus(err)
	}
	return Match{
		Models:       r.Models,
		SysObjectIDs: r.SysObjectIds,
		SysDescr:     r.SysDescr,
	}, r.Operations, nil
}
