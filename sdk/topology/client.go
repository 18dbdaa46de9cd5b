package topology

import (
	"context"

	"google.golang.org/grpc"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// Client is a Source in another process, reached over a connection.
type Client struct{ rpc pluginv1.TopologyClient }

// NewClient returns a client on conn.
func NewClient(conn grpc.ClientConnInterface) *Client {
	return &Client{rpc: pluginv1.NewTopologyClient(conn)}
}

// Watch implements Source.
func (c *Client) Watch(ctx context.Context, ids []string, f func(Change) error, synced func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.rpc.Watch(ctx, &pluginv1.WatchTopologyRequest{TopologyIds: ids})
	if err != nil {
		return fault.FromStatus(err)
	}
	for {
		r, err := stream.Recv()
		if err != nil {
			return fault.FromStatus(err)
		}
		if r.Synchronized {
			if synced != nil {
				synced()
			}
			continue
		}
		if err := f(fromProto(r)); err != nil {
			return err
		}
	}
}
