package feature

import (
	"errors"
	"strings"
	"testing"

	"ctl.internal/host/internal/grant"
	"ctl.internal/sdk/fault"
)

func request(t *testing.T, text string) grant.Request {
	t.Helper()
	g, err := grant.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return grant.Request{Grant: g}
}

func (h *host) granted(plugin, text string) bool {
	h.t.Helper()
	r := request(h.t, text)
	h.plugins.mu.Lock()
	defer h.plugins.mu.Unlock()
	return grant.NewPermit([]grant.Request{r}, h.plugins.running[plugin].Held).Allows(r.Kind, r.Value)
}

func TestInstallAsksForGrants(t *testing.T) {
	h := newHost(t)
	h.plugins.needs = map[string][]grant.Request{"switch": {request(t, "rpc vlan:add"), request(t, "certificate identity")}}
	_, err := h.m.Install(t.Context(), []string{"sw"}, InstallOptions{})
	var needed *grant.NeededError
	if !errors.As(err, &needed) || len(needed.Requests) != 2 || h.plugins.names() != "" {
		t.Fatalf("%v, running %q", err, h.plugins.names())
	}
	// What was shown is agreed to; more than that is not.
	agree := Agreement{By: "ann", To: map[string][]grant.Grant{"switch": {needed.Requests[0].Grant}}}
	if _, err := h.m.Install(t.Context(), []string{"sw"}, InstallOptions{Agree: agree}); !errors.As(err, &needed) {
		t.Fatalf("more than was agreed to: %v", err)
	}
	agree.To["switch"] = grantsOf(needed.Requests)
	if _, err := h.m.Install(t.Context(), []string{"sw"}, InstallOptions{Agree: agree}); err != nil || !h.granted("switch", "rpc vlan:add") {
		t.Fatalf("%v", err)
	}
	h.restart()
	if h.plugins.names() != "switch" || !h.granted("switch", "certificate identity") {
		t.Errorf("after a restart: %q", h.plugins.names())
	}
	// An upgrade that requests more waits for a decision; what was decided stays.
	h.plugins.needs["switch"] = append(h.plugins.needs["switch"], request(t, "service secrets"))
	h.restart()
	if h.plugins.names() != "" {
		t.Errorf("more requests than grants: %q runs", h.plugins.names())
	}
	if err := h.m.Decide(t.Context(), "switch", "ann", true, []grant.Grant{request(t, "service secrets").Grant}); err != nil {
		t.Fatal(err)
	}
	h.restart()
	if err := h.m.Decide(t.Context(), "switch", "ann", false, []grant.Grant{request(t, "certificate identity").Grant}); err != nil || h.granted("switch", "certificate identity") || !h.granted("switch", "rpc vlan:add") {
		t.Errorf("revoked: %v", err)
	}
	if _, err := h.m.Uninstall(t.Context(), []string{"sw"}, UninstallOptions{}); err != nil {
		t.Fatal(err)
	}
	h.plugins.needs["switch"] = nil
	if _, err := h.m.Install(t.Context(), []string{"sw"}, InstallOptions{}); err != nil || h.granted("switch", "rpc vlan:add") {
		t.Errorf("grants outlive the plugin: %v", err)
	}
	if err := h.m.Decide(t.Context(), "gone", "ann", true, nil); fault.KindOf(err) != fault.NotFound {
		t.Errorf("%v", err)
	}
}

func TestOnlyTheCatalogueOfTheHomeGrants(t *testing.T) {
	h := newHost(t)
	h.plugins.needs = map[string][]grant.Request{"own": {request(t, "rpc vlan:add")}}
	text := "name: x\nfeatures:\n- {name: own, version: 1.0.0, plugins: [{name: own, grants: [\"rpc vlan:*\"]}]}\n"
	if _, _, err := h.m.AddRepository(t.Context(), h.file("x.yaml", text), AddOptions{Unsigned: true}); err == nil || !strings.Contains(err.Error(), "only the catalogue of the home grants") {
		t.Errorf("added: %v", err)
	}
	h.file("features.d/x.yaml", text)
	if _, err := h.m.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := h.m.Install(t.Context(), []string{"own"}, InstallOptions{}); err != nil || !h.granted("own", "rpc vlan:add") {
		t.Errorf("%v", err)
	}
	// What an operator revoked is not given back by the catalogue.
	if err := h.m.Decide(t.Context(), "own", "ann", false, []grant.Grant{request(t, "rpc vlan:*").Grant}); err != nil {
		t.Fatal(err)
	}
	h.restart()
	if h.granted("own", "rpc vlan:add") {
		t.Error("the catalogue counts more than the operator")
	}
}
