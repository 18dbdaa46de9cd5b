package rpc

import (
	"context"

	"ctl.internal/host/internal/keys/keystore"
	"ctl.internal/sdk/operations"
)

type node struct {
	Alias string `json:"node-alias"`
	Cert  string `json:"node-cert"`
}

type nodeCert struct {
	Cert string `json:"node-cert"`
}

func setNode(ctx context.Context, s *keystore.Service, in node) (operations.None, error) {
	return operations.None{}, s.SetNode(ctx, in.Alias, in.Cert)
}

func getNode(_ context.Context, s *keystore.Service, in node) (nodeCert, error) {
	der, err := s.Node(in.Alias)
	return nodeCert{keystore.Bare(der)}, err
}
