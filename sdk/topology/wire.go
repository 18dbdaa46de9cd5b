package topology

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

func toProto(c Change) *pluginv1.WatchTopologyResponse {
	switch {
	case c.Removed:
		return &pluginv1.WatchTopologyResponse{RemovedTopology: c.TopologyID}
	case c.Snapshot:
		return &pluginv1.WatchTopologyResponse{Snapshot: &pluginv1.TopologySnapshot{
			TopologyId: c.TopologyID,
			Nodes:      protoNodes(c.PutNodes),
			Links:      protoLinks(c.PutLinks),
			Observed:   timeToProto(c.Observed),
		}}
	}
	return &pluginv1.WatchTopologyResponse{Change: &pluginv1.TopologyChange{
		TopologyId:   c.TopologyID,
		PutNodes:     protoNodes(c.PutNodes),
		RemovedNodes: c.RemovedNodes,
		PutLinks:     protoLinks(c.PutLinks),
		RemovedLinks: c.RemovedLinks,
		Observed:     timeToProto(c.Observed),
	}}
}

func fromProto(r *pluginv1.WatchTopologyResponse) Change {
	switch {
	case r.Snapshot != nil:
		s := r.Snapshot
		return Change{
			TopologyID: s.TopologyId,
			Snapshot:   true,
			PutNodes:   nodesFromProto(s.Nodes),
			PutLinks:   linksFromProto(s.Links),
			Observed:   timeFromProto(s.Observed),
		}
	case r.Change != nil:
		c := r.Change
		return Change{
			TopologyID:   c.TopologyId,
			PutNodes:     nodesFromProto(c.PutNodes),
			RemovedNodes: c.RemovedNodes,
			PutLinks:     linksFromProto(c.PutLinks),
			RemovedLinks: c.RemovedLinks,
			Observed:     timeFromProto(c.Observed),
		}
	}
	return Change{TopologyID: r.RemovedTopology, Removed: true}
}

func protoNodes(in []Node) []*pluginv1.TopologyNode {
	out := make([]*pluginv1.TopologyNode, 0, len(in))
	for _, n := range in {
		p := &pluginv1.TopologyNode{
			NodeId:     n.ID,
			Attributes: n.Attributes,
			Observed:   timeToProto(n.Observed),
		}
		for _, tp := range n.TPs {
			p.TerminationPoints = append(
				p.TerminationPoints,
				&pluginv1.TerminationPoint{
					TpId:       tp.ID,
					Attributes: tp.Attributes,
				},
			)
		}
		out = append(out, p)
	}
	return out
}

func nodesFromProto(in []*pluginv1.TopologyNode) []Node {
	out := make([]Node, 0, len(in))
	for _, p := range in {
		n := Node{
			ID:         p.NodeId,
			Attributes: p.Attributes,
			Observed:   timeFromProto(p.Observed),
			TPs:        make(map[string]TerminationPoint, len(p.TerminationPoints)),
		}
		for _, tp := range p.TerminationPoints {
			n.TPs[tp.TpId] = TerminationPoint{
				ID:         tp.TpId,
				Attributes: tp.Attributes,
			}
		}
		out = append(out, n)
	}
	return out
}

func protoLinks(in []Link) []*pluginv1.TopologyLink {
	out := make([]*pluginv1.TopologyLink, 0, len(in))
	for _, l := range in {
		out = append(out, &pluginv1.TopologyLink{
			LinkId:     l.ID,
			SourceNode: l.SourceNode,
			SourceTp:   l.SourceTP,
			DestNode:   l.DestNode,
			DestTp:     l.DestTP,
			Attributes: l.Attributes,
			Observed:   timeToProto(l.Observed),
		})
	}
	return out
}

func linksFromProto(in []*pluginv1.TopologyLink) []Link {
	out := make([]Link, 0, len(in))
	for _, p := range in {
		out = append(out, Link{
			ID:         p.LinkId,
			SourceNode: p.SourceNode,
			SourceTP:   p.SourceTp,
			DestNode:   p.DestNode,
			DestTP:     p.DestTp,
			Attributes: p.Attributes,
			Observed:   timeFromProto(p.Observed),
		})
	}
	return out
}

func timeToProto(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

func timeFromProto(t *timestamppb.Timestamp) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.AsTime()
}

// Register serves a source on a gRPC server; sdk.Serve does this for a plugin.
// source returns the source, or why there is none yet.
func Register(s grpc.ServiceRegistrar, _ string, source func() (Source, error)) {
	pluginv1.RegisterTopologyServer(s, &server{source: source})
}

type server struct {
	pluginv1.UnimplementedTopologyServer
	source func() (Source, error)
}

func (s *server) Watch(
	r *pluginv1.WatchTopologyRequest,
	stream grpc.ServerStreamingServer[pluginv1.WatchTopologyResponse],
) error {
	source, err := s.source()
	if err != nil {
		return fault.ToStatus(err)
	}
	var failed error
	err = source.Watch(stream.Context(), r.TopologyIds, func(c Change) error {
		return stream.Send(toProto(c))
	}, func() {
		failed = stream.Send(&pluginv1.WatchTopologyResponse{Synchronized: true})
	})
	if failed != nil {
		return failed
	}
	return fault.ToStatus(err)
}

// Client is a Source in another process, reached over a connection.
type Client struct{ rpc pluginv1.TopologyClient }

// NewClient returns a client on conn.
func NewClient(conn grpc.ClientConnInterface) *Client {
	return &Client{rpc: pluginv1.NewTopologyClient(conn)}
}

// Watch implements Source.
func (c *Client) Watch(
	ctx context.Context,
	ids []string,
	f func(Change) error,
	synced func(),
) error {
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
