package host

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"strings"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
)

// Operations calls RPCs of other modules.
type Operations struct{ rpc pluginv1.HostOperationsClient }

// Call executes an RPC of any installed module, with the rights of the caller in
// ctx when there is one, else as this plugin. in is encoded to, and out decoded
// from, the members of the RPC's input and output; either may be nil.
func (o *Operations) Call(ctx context.Context, module, rpc string, in, out any) error {
	req := &pluginv1.CallRequest{Module: module, Rpc: rpc}
	if who, ok := caller.From(ctx); ok {
		req.OnBehalfOf = who.RequestID
	}
	if in != nil {
		var err error
		if req.Input, err = json.Marshal(in); err != nil {
			return fault.Wrap(
				fault.Internal,
				err,
				"the input of %s:%s cannot be encoded: %v",
				module,
				rpc,
				err,
			)
		}
	}
	res, err := o.rpc.Call(ctx, req)
	if err != nil {
		return fault.FromStatus(err)
	}
	if out == nil || len(res.Output) == 0 {
		return nil
	}
	if err := json.Unmarshal(res.Output, out); err != nil {
		return fault.Wrap(
			fault.Internal,
			err,
			"the output of %s:%s does not fit: %v",
			module,
			rpc,
			err,
		)
	}
	return nil
}

// Events is the event bus.
type Events struct{ rpc pluginv1.HostEventsClient }

// Publish sends an event to a stream the manifest names, for subscribers on all nodes.
// notification is "module:name"; data is encoded to its members.
func (e *Events) Publish(ctx context.Context, stream, notification string, data any) error {
	return e.publishEvent(ctx, stream, notification, data, false)
}

// PublishHere is Publish for subscribers on this node only: of events that the plugin's
// process on each node finds by itself, in the datastore.
func (e *Events) PublishHere(ctx context.Context, stream, notification string, data any) error {
	return e.publishEvent(ctx, stream, notification, data, true)
}

func (e *Events) publishEvent(
	ctx context.Context,
	stream, notification string,
	data any,
	local bool,
) error {
	b, err := json.Marshal(map[string]any{notification: data})
	if err != nil {
		return fault.Wrap(
			fault.Internal,
			err,
			"the event %s cannot be encoded: %v",
			notification,
			err,
		)
	}
	_, err = e.rpc.Publish(ctx, &pluginv1.PublishRequest{
		Stream: stream,
		Data:   b,
		Local:  local,
	})
	return fault.FromStatus(err)
}

// Received is an event of a subscription.
type Received struct {
	Stream    string
	Publisher string          // name of the plugin, or "host"
	Data      json.RawMessage // one member, "module:notification"
	Time      time.Time
	Lost      uint64 // events this subscriber was too slow for, before this one
}

// Subscribe calls f for each event of the streams, until ctx ends or f fails.
func (e *Events) Subscribe(ctx context.Context, streams []string, f func(Received) error) error {
	return forEachMessage(ctx, e.rpc.Subscribe, &pluginv1.SubscribeRequest{Streams: streams}, func(r *pluginv1.SubscribeResponse) error {
		return f(Received{
			Stream:    r.Stream,
			Publisher: r.Publisher,
			Data:      r.Data,
			Time:      time.Unix(0, r.Time),
			Lost:      r.Lost,
		})
	})
}

// Secrets seals what may not lie in clear.
type Secrets struct{ rpc pluginv1.HostSecretsClient }

// Seal encrypts plaintext, at most 1 MiB, so that only this plugin opens it, with the
// same purpose, which is no secret. When the operator replaces the key, the host seals
// again what it finds in the plugin's private data, as it is or in base64: keep it so.
func (s *Secrets) Seal(ctx context.Context, purpose string, plaintext []byte) ([]byte, error) {
	r, err := s.rpc.Seal(ctx, &pluginv1.SealRequest{
		Plaintext: plaintext,
		Purpose:   purpose,
	})
	return r.GetSealed(), fault.FromStatus(err)
}

// Open decrypts what Seal made; fault.Invalid when it was not sealed here or for
// another purpose.
func (s *Secrets) Open(ctx context.Context, purpose string, sealed []byte) ([]byte, error) {
	r, err := s.rpc.Open(ctx, &pluginv1.OpenRequest{
		Sealed:  sealed,
		Purpose: purpose,
	})
	return r.GetPlaintext(), fault.FromStatus(err)
}

// SealedMark begins a text that the command aaa:seal-secret made.
const SealedMark = "{sealed}"

// OpenText opens a text of aaa:seal-secret, at most 1 MiB, that stands in a file which the
// plugin reads itself; the host opens those in etc/PLUGIN.yaml before the plugin sees them.
// A text without SealedMark is returned as it is. fault.Invalid when it was not made in this
// home, fault.Unsupported when the host is older than the call.
func (s *Secrets) OpenText(ctx context.Context, text string) (string, error) {
	if !strings.HasPrefix(text, SealedMark) {
		return text, nil
	}
	r, err := s.rpc.OpenText(ctx, &pluginv1.OpenTextRequest{Text: text})
	return r.GetText(), fault.FromStatus(err)
}

// Certificates gives what TLS connections need.
type Certificates struct {
	rpc pluginv1.HostCertificatesClient
}

// Trust returns the certificates of the trust keystore.
func (c *Certificates) Trust(ctx context.Context) (*x509.CertPool, error) {
	pem, err := c.TrustPEM(ctx)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	return pool, nil
}

// TrustPEM returns the certificates of the trust keystore as PEM blocks, for programs
// that a plugin runs; fault.Unavailable when no keystore is configured.
func (c *Certificates) TrustPEM(ctx context.Context) ([]byte, error) {
	r, err := c.rpc.Trust(ctx, &pluginv1.TrustRequest{})
	return r.GetPem(), fault.FromStatus(err)
}

// Identity returns the controller's certificate and key, for a plugin that listens
// with TLS; fault.Unavailable when no keystore is configured.
func (c *Certificates) Identity(ctx context.Context) (tls.Certificate, error) {
	r, err := c.rpc.Identity(ctx, &pluginv1.IdentityRequest{})
	if err != nil {
		return tls.Certificate{}, fault.FromStatus(err)
	}
	cert, err := tls.X509KeyPair(r.CertificatePem, r.KeyPem)
	if err != nil {
		return tls.Certificate{}, fault.Wrap(
			fault.Internal,
			err,
			"the controller's certificate and key do not fit: %v",
			err,
		)
	}
	return cert, nil
}

// Roles are held by one process among all nodes. Package state uses them.
type Roles struct{ rpc pluginv1.HostRolesClient }

// Hold waits for the role and calls f when this process gets it and at each renewal,
// until ctx ends, f fails or the role is lost. epoch grows with every change of the
// holder; until is CLOCK_BOOTTIME in nanoseconds, 0 = as long as Hold runs.
func (r *Roles) Hold(
	ctx context.Context,
	role string,
	f func(epoch uint64, until int64) error,
) error {
	return forEachMessage(ctx, r.rpc.Hold, &pluginv1.HoldRequest{Role: role}, func(m *pluginv1.HoldResponse) error {
		return f(m.Epoch, m.Until)
	})
}

// Traces takes the spans of a plugin, which the host hands on to its collector. The
// service is OTLP's own (opentelemetry.proto.collector.trace.v1.TraceService), so that
// a plugin in another language may use an exporter it has.
type Traces struct {
	conn grpc.ClientConnInterface
}

// Export sends ended spans, at most 4 MiB. fault.Unavailable when the host keeps none
// (wire.EnvTraces is not set) or its collector cannot be reached.
func (t *Traces) Export(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	// TracesData has the fields of ExportTraceServiceRequest, whose package would bring an
	// HTTP gateway into every plugin.
	err := t.conn.Invoke(
		ctx,
		"/opentelemetry.proto.collector.trace.v1.TraceService/Export",
		&tracepb.TracesData{ResourceSpans: spans},
		&emptypb.Empty{},
	)
	return fault.FromStatus(err)
}
