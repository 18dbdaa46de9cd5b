package operations

import "context"

// Inspector asks routers what they made of their configuration.
type Inspector interface {
	// Verify compares the forwarding tables of routers with those computed, of all mounted
	// ones when nodes is empty.
	Verify(ctx context.Context, nodes []string) ([]Verified, error)
	// Ping has the ingress of a channel ping its egress nodes over BIER.
	Ping(ctx context.Context, q PingIn) ([]Pinged, error)
}

// Results of Verify.
const (
	Equal     = "equal"
	Different = "different"
	Unknown   = "unknown" // the tables could not be read
)

// Verified is what became of one router.
type Verified struct {
	Node        string   `json:"node-id"`
	Result      string   `json:"result"`
	Reason      string   `json:"reason,omitempty"`
	Tables      int      `json:"tables"`
	Counted     bool     `json:"-"`
	Packets     uint64   `json:"packets"`
	Bytes       uint64   `json:"bytes"`
	Differences []string `json:"difference,omitempty"`
}

// PingIn is the input of ping.
type PingIn struct {
	Topology string   `json:"topology-id"`
	Channel  string   `json:"channel-name"`
	Egress   []string `json:"egress-node"`
	Count    int      `json:"count"`
}

// Pinged is what became of one egress node, and its state in the channel.
type Pinged struct {
	Node     string `json:"node-id"`
	Sent     uint32 `json:"sent"`
	Received uint32 `json:"received"`
	State    string `json:"state"`
	Reason   string `json:"reason,omitempty"`
}

type verifyIn struct {
	Nodes []string `json:"node-id"`
}

type verifyOut struct {
	Routers []Verified `json:"router,omitempty"`
}

func (h *Handlers) verify(ctx context.Context, in verifyIn) (*verifyOut, error) {
	list, err := h.Inspector.Verify(ctx, in.Nodes)
	return &verifyOut{list}, err
}

type pingOut struct {
	Egress []Pinged `json:"egress-node,omitempty"`
}

func (h *Handlers) ping(ctx context.Context, in PingIn) (*pingOut, error) {
	list, err := h.Inspector.Ping(ctx, in)
	return &pingOut{list}, err
}
