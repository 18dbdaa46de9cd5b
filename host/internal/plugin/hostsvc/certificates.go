package hostsvc

import (
	"context"

	"ctl.internal/host/internal/grant"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

type certificatesServer struct {
	pluginv1.UnimplementedHostCertificatesServer
	s *Server
}

func (c *certificatesServer) Trust(ctx context.Context, _ *pluginv1.TrustRequest) (*pluginv1.TrustResponse, error) {
	if err := c.s.Allowed(grant.Certificate, "trust"); err != nil {
		return nil, err
	}
	pem, err := c.s.services.Certificates.Trust(ctx)
	if err != nil {
		return nil, err
	}
	return &pluginv1.TrustResponse{Pem: pem}, nil
}

func (c *certificatesServer) Identity(ctx context.Context, _ *pluginv1.IdentityRequest) (*pluginv1.IdentityResponse, error) {
	if err := c.s.Allowed(grant.Certificate, "identity"); err != nil {
		return nil, err
	}
	cert, key, err := c.s.services.Certificates.Identity(ctx)
	if err != nil {
		return nil, err
	}
	return &pluginv1.IdentityResponse{CertificatePem: cert, KeyPem: key}, nil
}
