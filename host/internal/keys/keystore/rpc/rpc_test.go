package rpc_test

import (
	"testing"

	"ctl.internal/host/internal/keys/keystore"
	"ctl.internal/host/internal/keys/keystore/rpc"
	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/operations"
)

func TestModuleAndHandlersAgree(t *testing.T) {
	set, err := yang.Load(yang.Source{Name: "host", Files: map[string][]byte{rpc.Module + ".yang": []byte(rpc.Text)}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := yang.ParseAliases([]byte(rpc.Aliases))
	if err != nil {
		t.Fatal(err)
	}
	index, err := yang.NewAliasIndex(set, a)
	if err != nil {
		t.Fatal(err)
	}
	handlers := rpc.Handlers(func() (*keystore.Service, error) { return nil, fault.New(fault.Unavailable, "off") })
	for _, name := range []string{"setNodeCertifcate", "setNodeCertificate", "getNodeCertifcate", "getNodeCertificate",
		"getCtlCertificate", "getCtlCertificateReq", "setCtlCertificate", "setCtlCertifcate"} {
		module, resolved, _ := index.Resolve(rpc.Module, name)
		if set.RPC(module, resolved) == nil {
			t.Errorf("%s: no such rpc", name)
		}
		_, err := handlers.Invoke(t.Context(), &operations.Request{Module: module, RPC: resolved, Input: []byte("{}")})
		if fault.KindOf(err) != fault.Unavailable {
			t.Errorf("%s without keystores: %v", name, err)
		}
	}
}
