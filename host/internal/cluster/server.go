package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/plugin"
	"ctl.internal/host/internal/plugin/events"
	"ctl.internal/internal/together"
	"ctl.internal/internal/wire"
	"ctl.internal/internal/wire/frames"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
)

// Metadata between nodes. Names that begin with "ctl-" end at a relay, so those of the call
// that is carried travel with another beginning.
const (
	metaPlugin  = "ctl-node-plugin"
	metaEpoch   = "ctl-node-epoch"  // of the role that the target is expected to hold
	metaHop     = "ctl-node-hop"    // always 1: a call is forwarded once
	metaUnary   = "ctl-node-unary"  // "1" for a call with one message each way
	metaSafe    = "ctl-node-safe"   // "1" for a call that may be repeated
	metaCaller  = "ctl-node-caller" // JSON of caller.Caller, base64 by gRPC
	metaActing  = "ctl-node-acting" // "1" when the caller is a plugin that acts for nobody
	metaRefused = "ctl-node-refused"
	metaRetry   = "ctl-node-retry" // seconds until another attempt may succeed
	carried     = "fwd-"
)

const (
	serviceNode    = "/ctl.cluster.Node/"
	methodStatus   = serviceNode + "Status"
	methodStepDown = serviceNode + "StepDown"
	methodEvent    = serviceNode + "Event"
)

// callsAtOnce bounds what one other node may have under way here.
const callsAtOnce = 1024

func (n *Node) newServer() *grpc.Server {
	return grpc.NewServer(wire.ServerOptions(
		grpc.Creds(n.serverTLS()), grpc.ForceServerCodecV2(frames.Codec()), grpc.UnknownServiceHandler(n.handleStream),
		grpc.MaxConcurrentStreams(callsAtOnce), grpc.ConnectionTimeout(5*time.Second),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{
			MinTime:             5 * time.Second,
			PermitWithoutStream: true,
		}),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			Time:    10 * time.Second,
			Timeout: 5 * time.Second,
		}))...)
}

// handleStream serves every call of another node.
func (n *Node) handleStream(_ any, in grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(in)
	err := n.serveStream(in, method)
	var later interface{ RetryAfter() time.Duration }
	if errors.As(err, &later) {
		in.SetTrailer(metadata.Pairs(
			metaRetry,
			strconv.Itoa(int(math.Ceil(later.RetryAfter().Seconds()))),
		))
	}
	return fault.ToStatus(err)
}

// localPluginConn returns the connection to a plugin of this node. While the plugin is being started a safe call waits, also when
// the caller knows before this node that it has the role; another one is refused at once, since it was not begun.
func (n *Node) localPluginConn(
	ctx context.Context,
	name string,
	epoch uint64,
	safe bool,
) (grpc.ClientConnInterface, error) {
	ctx, cancel := context.WithTimeout(ctx, n.o.waits.safe)
	defer cancel()
	for {
		conn, err := n.o.Plugins.Here(name, epoch)
		if err == nil || !safe {
			return conn, err
		}
		r, ok := n.o.Roles.Holder(plugin.RolePrefix + name)
		if ok && uint64(r.Epoch) > epoch {
			return nil, err
		}
		if together.Sleep(ctx, 100*time.Millisecond) != nil {
			return nil, err
		}
	}
}

func (n *Node) serveStream(in grpc.ServerStream, method string) error {
	if strings.HasPrefix(method, serviceNode) {
		return n.serveNodeCall(in, method)
	}
	md, _ := metadata.FromIncomingContext(in.Context())
	refuse := func(format string, args ...any) error {
		in.SetTrailer(metadata.Pairs(metaRefused, "1", metaRetry, "1"))
		return fault.New(fault.Unavailable, format, args...)
	}
	name := firstMetadataValue(md, metaPlugin)
	epoch, err := strconv.ParseUint(firstMetadataValue(md, metaEpoch), 10, 64)
	if err != nil || name == "" || firstMetadataValue(md, metaHop) != "1" {
		return refuse("a call from another node names its plugin and epoch, and is forwarded once")
	}
	conn, err := n.localPluginConn(
		in.Context(),
		name,
		epoch,
		firstMetadataValue(md, metaSafe) == "1",
	)
	if err != nil {
		return refuse(
			"plugin %s does not run on node %s, or its role went to another",
			name,
			n.o.Identity.ID,
		)
	}
	ctx := in.Context()
	if text := firstMetadataValue(md, metaCaller+"-bin"); text != "" {
		var who caller.Caller
		if err := json.Unmarshal([]byte(text), &who); err != nil {
			return refuse("the caller of a call from another node is not readable")
		}
		ctx = caller.With(ctx, who)
		if firstMetadataValue(md, metaActing) == "1" {
			ctx = aaa.AsPlugin(ctx, who.User)
		}
	}
	if firstMetadataValue(md, metaSafe) == "1" {
		ctx = plugin.Safe(ctx)
	}
	out := restoreMetadata(md)
	if firstMetadataValue(md, metaUnary) != "1" {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		return frames.Pump(ctx, cancel, in, conn, method, out)
	}
	var request, answer frames.Message
	if err := in.RecvMsg(&request); err != nil {
		return err
	}
	err = conn.Invoke(
		metadata.NewOutgoingContext(ctx, out),
		method,
		&request,
		&answer,
		grpc.ForceCodecV2(frames.Codec()),
	)
	if err != nil {
		return err
	}
	return in.SendMsg(&answer)
}

// restoreMetadata is the metadata of the call that is carried.
func restoreMetadata(md metadata.MD) metadata.MD {
	out := frames.Passing(md)
	for k, v := range md {
		if name, ok := strings.CutPrefix(k, carried); ok {
			delete(out, k)
			out[name] = v
		}
	}
	return out
}

// carriedMetadata is the reverse of received, with what the other node needs to know.
func carriedMetadata(md metadata.MD) metadata.MD {
	out := frames.Passing(md)
	for k, v := range md {
		if strings.HasPrefix(k, "ctl-") {
			out[carried+k] = v
		}
	}
	return out
}

func firstMetadataValue(md metadata.MD, key string) string {
	if v := md.Get(key); len(v) > 0 {
		return v[0]
	}
	return ""
}

// Live is what a node says of itself when it is asked.
type Live struct {
	Revision uint64 `json:"revision"` // of its projection of the store
	AgeMS    int64  `json:"ageMs"`    // how long ago that was known to be complete
	LeaseMS  int64  `json:"leaseMs"`  // how long its lease is certain to live
	ClockMS  int64  `json:"clockMs"`  // its clock, Unix milliseconds; 0 = it does not say

	Ahead time.Duration `json:"ahead"` // how far its clock is ahead of that of the node that asked
}

// stepDown is the request of methodStepDown; the answer is the list of roles given up.
type stepDown struct {
	Roles   []string `json:"roles"`
	Seconds int      `json:"seconds"`
	By      string   `json:"by"`
}

// serveNodeCall serves what nodes ask each other.
func (n *Node) serveNodeCall(in grpc.ServerStream, method string) error {
	var request frames.Message
	if err := in.RecvMsg(&request); err != nil {
		return err
	}
	var answer any
	switch method {
	case methodStatus:
		answer = n.liveStatus()
	case methodStepDown:
		var r stepDown
		if err := json.Unmarshal(request.Body, &r); err != nil {
			return fault.Wrap(fault.Malformed, err, "the request cannot be read: %v", err)
		}
		answer = n.stepDownHere(in.Context(), r)
	case methodEvent:
		var e events.Event
		if err := json.Unmarshal(request.Body, &e); err != nil {
			return fault.Wrap(fault.Malformed, err, "the event cannot be read: %v", err)
		}
		e.Carry, e.Lost = false, 0 // it has been carried
		n.o.Bus.Put(e)
		answer = struct{}{}
	default:
		return fault.New(
			fault.Unsupported,
			"this node does not serve %s: it is of another version",
			method,
		)
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	return in.SendMsg(&frames.Message{Body: text})
}
