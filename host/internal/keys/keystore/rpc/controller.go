package rpc

import (
	"context"

	"ctl.internal/host/internal/keys/keystore"
	"ctl.internal/sdk/operations"
)

type ctlCert struct {
	Cert string `json:"ctl-cert"`
}

type ctlRequest struct {
	Request string `json:"ctl-cert-req"`
}

type ctlAnswer struct {
	Alias string `json:"ctl-cert-alias"`
	Cert  string `json:"ctl-cert"`
}

func getCtl(_ context.Context, s *keystore.Service, _ operations.None) (ctlCert, error) {
	return ctlCert{keystore.Bare(s.Certificate())}, nil
}

func getRequest(_ context.Context, s *keystore.Service, _ operations.None) (ctlRequest, error) {
	der, err := s.Request()
	return ctlRequest{keystore.Bare(der)}, err
}

func setCtl(ctx context.Context, s *keystore.Service, in ctlAnswer) (operations.None, error) {
	return operations.None{}, s.SetCertificate(ctx, in.Alias, in.Cert)
}
