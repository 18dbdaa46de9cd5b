package plugintest

import (
	"bytes"
	"context"
	"encoding/base64"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"ctl.internal/internal/wire"
	"ctl.internal/internal/wire/frames"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

type operationsServer struct {
	pluginv1.UnimplementedHostOperationsServer
	h *Host
}

func (o *operationsServer) Call(
	ctx context.Context,
	r *pluginv1.CallRequest,
) (*pluginv1.CallResponse, error) {
	o.h.mu.Lock()
	f, ok := o.h.rpcs[r.Module+":"+r.Rpc]
	who, known := o.h.callers[r.OnBehalfOf]
	o.h.mu.Unlock()
	if r.OnBehalfOf != "" {
		if !known {
			return nil, fault.New(
				fault.Denied,
				"the plugin is not serving the request %q now",
				r.OnBehalfOf,
			)
		}
		ctx = caller.With(ctx, who)
	}
	if !ok {
		return nil, fault.New(
			fault.NotFound,
			"no installed feature serves the RPC %s:%s (Host.Handle adds one to the test)",
			r.Module,
			r.Rpc,
		)
	}
	out, err := f(ctx, r.Input)
	return &pluginv1.CallResponse{Output: out}, err
}

// secretsServer hides nothing: it only sees to it that what is opened was sealed.
type secretsServer struct {
	pluginv1.UnimplementedHostSecretsServer
	h *Host
}

func (s secretsServer) sealLabel(ctx context.Context, purpose string) []byte {
	return []byte("sealed\x00" + s.h.dir + "\x00" + guestOf(ctx).manifest.GetName() + "\x00" + purpose + "\x00")
}

// flipBits keeps a test from finding the plain text in what was stored.
func flipBits(b []byte) []byte {
	out := bytes.Clone(b)
	for i := range out {
		out[i] ^= 0xa5
	}
	return out
}

func (s secretsServer) Seal(
	ctx context.Context,
	r *pluginv1.SealRequest,
) (*pluginv1.SealResponse, error) {
	return &pluginv1.SealResponse{Sealed: flipBits(append(s.sealLabel(ctx, r.Purpose), r.Plaintext...))}, nil
}

func (s secretsServer) Open(
	ctx context.Context,
	r *pluginv1.OpenRequest,
) (*pluginv1.OpenResponse, error) {
	plain, ok := bytes.CutPrefix(flipBits(r.Sealed), s.sealLabel(ctx, r.Purpose))
	if !ok {
		return nil, fault.New(
			fault.Invalid,
			"the secret was not sealed by this plugin in this home for this purpose",
		)
	}
	return &pluginv1.OpenResponse{Plaintext: plain}, nil
}

// SealText makes what aaa:seal-secret makes of a secret, for a plugin's own files.
func (h *Host) SealText(plain string) string {
	return host.SealedMark + base64.StdEncoding.EncodeToString(flipBits([]byte("text\x00"+h.dir+"\x00"+plain)))
}

func (s secretsServer) OpenText(
	_ context.Context,
	r *pluginv1.OpenTextRequest,
) (*pluginv1.OpenTextResponse, error) {
	rest, ok := strings.CutPrefix(r.Text, host.SealedMark)
	if !ok {
		return &pluginv1.OpenTextResponse{Text: r.Text}, nil
	}
	sealed, err := base64.StdEncoding.DecodeString(rest)
	plain, ok := strings.CutPrefix(string(flipBits(sealed)), "text\x00"+s.h.dir+"\x00")
	if err != nil || !ok {
		return nil, fault.New(
			fault.Invalid,
			"the text was not sealed in this home; create the text again with aaa:seal-secret",
		)
	}
	return &pluginv1.OpenTextResponse{Text: plain}, nil
}

type certificatesServer struct {
	pluginv1.UnimplementedHostCertificatesServer
	h *Host
}

func (c certificatesServer) Trust(
	context.Context,
	*pluginv1.TrustRequest,
) (*pluginv1.TrustResponse, error) {
	c.h.mu.Lock()
	defer c.h.mu.Unlock()
	return &pluginv1.TrustResponse{Pem: c.h.trust}, nil
}

func (c certificatesServer) Identity(
	ctx context.Context,
	_ *pluginv1.IdentityRequest,
) (*pluginv1.IdentityResponse, error) {
	c.h.mu.Lock()
	defer c.h.mu.Unlock()
	if guestOf(ctx).manifest.GetLabels()["listens"] == "" {
		return nil, fault.New(
			fault.Denied,
			"the controller's key is for plugins whose manifest has the label \"listens\"",
		)
	}
	if c.h.cert == nil {
		return nil, fault.New(fault.Unavailable, "this controller has no keystore")
	}
	return &pluginv1.IdentityResponse{
		CertificatePem: c.h.cert,
		KeyPem:         c.h.key,
	}, nil
}

type switchboardServer struct {
	pluginv1.UnimplementedHostSwitchboardServer
	h *Host
}

// listProviders lists who serves a capability. The caller holds mu.
func (s *switchboardServer) listProviders(capability string) *pluginv1.ProvidersResponse {
	res := &pluginv1.ProvidersResponse{}
	for _, g := range s.h.plugins {
		m := g.manifest
		if g.conn != nil && slices.Contains(m.GetCapabilities(), capability) {
			res.Providers = append(
				res.Providers,
				&pluginv1.Provider{
					Name:       m.Name,
					Version:    m.Version,
					Ready:      true,
					Labels:     m.Labels,
					Generation: 1,
				},
			)
		}
	}
	slices.SortFunc(res.Providers, func(a, b *pluginv1.Provider) int {
		return strings.Compare(a.Name, b.Name)
	})
	return res
}

func (s *switchboardServer) Providers(
	_ context.Context,
	r *pluginv1.ProvidersRequest,
) (*pluginv1.ProvidersResponse, error) {
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	return s.listProviders(r.Capability), nil
}

func (s *switchboardServer) WatchProviders(
	r *pluginv1.ProvidersRequest,
	out grpc.ServerStreamingServer[pluginv1.ProvidersResponse],
) error {
	for sent := -1; ; {
		var res *pluginv1.ProvidersResponse
		if err := s.h.waitUntil(out.Context(), func() bool {
			if len(s.h.plugins) == sent {
				return false
			}
			res, sent = s.listProviders(r.Capability), len(s.h.plugins)
			return true
		}); err != nil {
			return err
		}
		if err := out.Send(res); err != nil {
			return err
		}
	}
}

// relayCall carries a call to the plugin named in its metadata. Who may call what is
// checked by the real host; here it is only checked that the manifest uses it.
func (h *Host) relayCall(_ any, in grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(in)
	conn, md, err := h.relayTo(in.Context(), method)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(in.Context())
	defer cancel(nil)
	return frames.Pump(ctx, cancel, in, conn, method, md)
}

// relayUnary is relay for a call that came over the link.
func (h *Host) relayUnary(ctx context.Context, method string, request []byte) ([]byte, error) {
	conn, md, err := h.relayTo(ctx, method)
	if err != nil {
		return nil, fault.ToStatus(err)
	}
	var answer frames.Message
	err = conn.Invoke(
		metadata.NewOutgoingContext(ctx, md),
		method,
		&frames.Message{Body: request},
		&answer,
		grpc.ForceCodecV2(frames.Codec()),
	)
	return answer.Body, fault.ToStatus(err)
}

func (h *Host) relayTo(
	ctx context.Context,
	method string,
) (grpc.ClientConnInterface, metadata.MD, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	name := strings.Join(md.Get(wire.MetaProvider), "")
	service, _, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/")
	capability := strings.ToLower(service[strings.LastIndexByte(service, '.')+1:])
	if !slices.Contains(guestOf(ctx).manifest.GetUses(), capability) {
		return nil, nil, fault.New(
			fault.Denied,
			"the manifest does not list the capability %q under `uses`",
			capability,
		)
	}
	conn := h.providerConn(name)
	if conn == nil {
		return nil, nil, fault.New(fault.NotFound, "there is no plugin %q", name)
	}
	return conn, frames.Passing(md), nil
}

func (h *Host) providerConn(name string) grpc.ClientConnInterface {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, g := range h.plugins {
		if g.conn != nil && g.manifest.GetName() == name {
			return g.conn
		}
	}
	return nil
}
