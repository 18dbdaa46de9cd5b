// Package rpc is the YANG module aaa-cert-rpc and what its RPCs do with the
// keystores. The same for people at the console is package shell.
package rpc

import (
	"context"
	_ "embed"

	"ctl.internal/host/internal/keys/keystore"
	"ctl.internal/sdk/operations"
)

// Module is the name of the YANG module, Text its text.
const Module = "aaa-cert-rpc"

//go:embed aaa-cert-rpc.yang
var Text string

// SettingsModule is the YANG module of the settings, SettingsNode its top-level node,
// SettingsText its text.
const (
	SettingsModule = "aaa-cert"
	SettingsNode   = SettingsModule + ":aaa-cert-service-config"
)

//go:embed aaa-cert.yang
var SettingsText string

// Aliases are the documented names spelled right, and the other way round: a
// yang.AliasSet.
const Aliases = `{"rpcs": {
  "aaa-cert-rpc:setNodeCertificate": "setNodeCertifcate",
  "aaa-cert-rpc:getNodeCertificate": "getNodeCertifcate",
  "aaa-cert-rpc:setCtlCertifcate": "setCtlCertificate"}}`

// Service returns the keystores of now, or why there are none.
type Service func() (*keystore.Service, error)

// newHandler makes a handler of what an RPC does with the keystores.
func newHandler[In, Out any](
	get Service,
	f func(context.Context, *keystore.Service, In) (Out, error),
) operations.Handler {
	return operations.Func(func(ctx context.Context, in In) (Out, error) {
		s, err := get()
		if err != nil {
			var none Out
			return none, err
		}
		return f(ctx, s, in)
	})
}

// Handlers are the RPCs, by module:rpc.
func Handlers(get Service) operations.Mux {
	return operations.Mux{
		Module + ":getCtlCertificate":    newHandler(get, getCtl),
		Module + ":getCtlCertificateReq": newHandler(get, getRequest),
		Module + ":setCtlCertificate":    newHandler(get, setCtl),
		Module + ":setNodeCertifcate":    newHandler(get, setNode),
		Module + ":getNodeCertifcate":    newHandler(get, getNode),
	}
}

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
