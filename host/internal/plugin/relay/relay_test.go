package relay

import (
	"strings"
	"testing"

	"ctl.internal/sdk/fault"
)

func TestAllow(t *testing.T) {
	uses := []string{"switchdriver", "bierdriver", "base", "operations", "hostsecrets"}
	for _, c := range []struct {
		name, method string
		serves       []string
		want         fault.Kind
		ok           bool
	}{
		{"a driver", "/ctl.plugin.v1.SwitchDriver/ReadVlans", []string{"switchdriver"}, 0, true},
		{"a plug point the host has never heard of", "/acme.bier.v7.BierDriver/Push", []string{"bierdriver"}, 0, true},
		{"a service without package", "/BierDriver/Push", []string{"bierdriver"}, 0, true},
		{"not under uses", "/ctl.plugin.v1.Topology/Watch", []string{"topology"}, fault.Denied, false},
		{"not served", "/ctl.plugin.v1.SwitchDriver/ReadVlans", []string{"topology"}, fault.Unsupported, false},
		{"base", "/ctl.plugin.v1.Base/Stop", []string{"base"}, fault.Denied, false},
		{"a service of the host", "/ctl.plugin.v1.HostSecrets/Open", []string{"hostsecrets"}, fault.Denied, false},
		{"go-plugin's shutdown", "/plugin.GRPCController/Shutdown", []string{"grpccontroller"}, fault.Denied, false},
		{"gRPC's own", "/grpc.health.v1.Health/Check", []string{"health"}, fault.Denied, false},
		{"a user's rights", "/ctl.plugin.v1.Operations/Invoke", []string{"operations"}, fault.Denied, false},
		{"a user's rights by another package", "/evil.v1.Operations/Invoke", []string{"operations"}, fault.Denied, false},
		{"no method", "/ctl.plugin.v1.SwitchDriver", []string{"switchdriver"}, fault.Malformed, false},
		{"empty", "", nil, fault.Malformed, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Allow(uses, c.method, "p", c.serves)
			if c.ok != (err == nil) || !c.ok && fault.KindOf(err) != c.want {
				t.Errorf("got %v", err)
			}
		})
	}
}

func FuzzCapability(f *testing.F) {
	f.Add("/a.B/C")
	f.Fuzz(func(t *testing.T, method string) {
		if c, err := Capability(method); err == nil && (c == "" || strings.ContainsAny(c, "./")) {
			t.Errorf("%q is allowed as %q", method, c)
		}
	})
}
