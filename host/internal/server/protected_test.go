package server

import (
	"log/slog"
	"testing"
)

// What decides access is protected however its address is written.
func TestProtectedPaths(t *testing.T) {
	own, err := hostModules()
	if err != nil {
		t.Fatal(err)
	}
	c, err := newCatalog(own, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{catalog: c}
	for path, want := range map[string]bool{
		"/restconf/config/aaa:http-authorization/policies": true, "/restconf/config/http-authorization/policies": true,
		"/rests/data/http-authorization": true, "/rests/operations/aaa-cert-rpc:setCtlCertificate": true, "/auth/v1/users": true,
		"/rests/data/network-topology:network-topology": false, "/rests/operations/ctl-system:show": false, "/repoinfo/x": false,
	} {
		if got := s.isProtectedPath(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	if !s.readsOnly("ctl-system", "show") {
		t.Error("ctl-system:show changes nothing")
	}
	if s.readsOnly("ctl-system", "install-feature") {
		t.Error("ctl-system:install-feature changes something")
	}
}
