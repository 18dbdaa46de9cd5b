package service

import (
	"context"
	"crypto/tls"
	"time"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

// keystoreTime is what the host may take to hand out certificates.
const keystoreTime = 5 * time.Second

// tlsConfig returns nil when TLS is off.
func tlsConfig(ctx context.Context, s *Settings, h *host.Client) (*tls.Config, error) {
	if !s.TLS.Enabled {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, keystoreTime)
	defer cancel()
	const remedy = "tls.enabled in etc/openflow.yaml needs the controller's keystore (feature ctl-aaa-cert): "
	cert, err := h.Certificates.Identity(ctx)
	if err != nil {
		return nil, fault.Wrap(fault.KindOf(err), err, remedy+"%v", err)
	}
	c := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	if s.TLS.ClientCertificates {
		if c.ClientCAs, err = h.Certificates.Trust(ctx); err != nil {
			return nil, fault.Wrap(fault.KindOf(err), err, remedy+"%v", err)
		}
		c.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return c, nil
}
