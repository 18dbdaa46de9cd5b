package hostsvc

import (
	"context"
	"errors"

	"ctl.internal/host/internal/grant"
	"ctl.internal/host/internal/keys/encrypt"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

type secretsServer struct {
	pluginv1.UnimplementedHostSecretsServer
	s *Server
}

// purposeAAD binds a sealed text to the plugin and the purpose.
func (x *secretsServer) purposeAAD(purpose string) []byte {
	return []byte("plugin\x00" + x.s.plugin + "\x00" + purpose)
}

func (x *secretsServer) Seal(
	_ context.Context,
	r *pluginv1.SealRequest,
) (*pluginv1.SealResponse, error) {
	sealed, err := x.s.services.Secrets.Seal(r.Plaintext, x.purposeAAD(r.Purpose))
	if errors.Is(err, encrypt.ErrTooBig) || errors.Is(err, encrypt.ErrPurpose) {
		return nil, fault.Wrap(fault.TooBig, err, "%v", err)
	}
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "the secret cannot be sealed")
	}
	return &pluginv1.SealResponse{Sealed: sealed}, nil
}

func (x *secretsServer) Open(
	_ context.Context,
	r *pluginv1.OpenRequest,
) (*pluginv1.OpenResponse, error) {
	plain, err := x.s.services.Secrets.Open(r.Sealed, x.purposeAAD(r.Purpose))
	if err != nil {
		return nil, fault.Wrap(
			fault.Invalid,
			err,
			"the secret was not sealed by this plugin in this home for this purpose",
		)
	}
	return &pluginv1.OpenResponse{Plaintext: plain}, nil
}

func (x *secretsServer) OpenText(
	_ context.Context,
	r *pluginv1.OpenTextRequest,
) (*pluginv1.OpenTextResponse, error) {
	plain, err := x.s.services.Secrets.OpenText(r.Text)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "%v", err)
	}
	return &pluginv1.OpenTextResponse{Text: plain}, nil
}

type certificatesServer struct {
	pluginv1.UnimplementedHostCertificatesServer
	s *Server
}

func (c *certificatesServer) Trust(
	ctx context.Context,
	_ *pluginv1.TrustRequest,
) (*pluginv1.TrustResponse, error) {
	if err := c.s.Allowed(grant.Certificate, "trust"); err != nil {
		return nil, err
	}
	pem, err := c.s.services.Certificates.Trust(ctx)
	return &pluginv1.TrustResponse{Pem: pem}, err
}

func (c *certificatesServer) Identity(
	ctx context.Context,
	_ *pluginv1.IdentityRequest,
) (*pluginv1.IdentityResponse, error) {
	if err := c.s.Allowed(grant.Certificate, "identity"); err != nil {
		return nil, err
	}
	cert, key, err := c.s.services.Certificates.Identity(ctx)
	return &pluginv1.IdentityResponse{
		CertificatePem: cert,
		KeyPem:         key,
	}, err
}
