package hostsvc

import (
	"context"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// listensLabel in a manifest names a plugin that serves TLS to the outside. Only
// such a one gets the controller's private key.
const listensLabel = "listens"

type certificatesServer struct {
	pluginv1.UnimplementedHostCertificatesServer
	s *Server
}

func (c *certificatesServer) Trust(ctx context.Context, _ *pluginv1.TrustRequest) (*pluginv1.TrustResponse, error) {
	if c.s.services.Certificates == nil {
		return nil, absent("keystore")
	}
	pem, err := c.s.services.Certificates.Trust(ctx)
	if err != nil {
		return nil, err
	}
	return &pluginv1.TrustResponse{Pem: pem}, nil
}

func (c *certificatesServer) Identity(ctx context.Context, _ *pluginv1.IdentityRequest) (*pluginv1.IdentityResponse, error) {
	if c.s.services.Certificates == nil {
		return nil, absent("keystore")
	}
	if c.s.Manifest().GetLabels()[listensLabel] == "" {
		return nil, fault.New(fault.Denied, "the controller's key is for plugins whose manifest has the label %q", listensLabel)
	}
	cert, key, err := c.s.services.Certificates.Identity(ctx)
	if err != nil {
		return nil, err
	}
	return &pluginv1.IdentityResponse{CertificatePem: cert, KeyPem: key}, nil
}
