package operations

import (
	"context"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/sdk/operations"
)

// edgeEntry is an entry of list edge-list-entry; the edge leads from tail to head.
type edgeEntry struct {
	HeadPort     string         `json:"head-node-connector-id"`
	HeadPortType discovery.Kind `json:"head-node-connector-type"`
	HeadNode     string         `json:"head-node-id"`
	HeadType     discovery.Kind `json:"head-node-type"`
	TailPort     string         `json:"tail-node-connector-id"`
	TailPortType discovery.Kind `json:"tail-node-connector-type"`
	TailNode     string         `json:"tail-node-id"`
	TailType     discovery.Kind `json:"tail-node-type"`
}

type getEdgeListOut struct {
	Entries []edgeEntry `json:"edge-list-entry"`
}

func (h *Handlers) getEdgeList(ctx context.Context, _ operations.None) (*getEdgeListOut, error) {
	n, err := h.Survey.Await(ctx)
	if err != nil {
		return nil, err
	}
	out := &getEdgeListOut{Entries: make([]edgeEntry, 0, len(n.Edges))}
	for _, e := range n.Edges {
		out.Entries = append(out.Entries, edgeEntry{
			HeadPort: e.Head.Port, HeadPortType: e.Head.Kind, HeadNode: e.Head.Node, HeadType: e.Head.Kind,
			TailPort: e.Tail.Port, TailPortType: e.Tail.Kind, TailNode: e.Tail.Node, TailType: e.Tail.Kind})
	}
	return out, nil
}
