package grant

import (
	"errors"
	"strings"
	"testing"
	"time"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

func must(t *testing.T, text string) Grant {
	t.Helper()
	g, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestGrantsCoverNoMoreThanTheySay(t *testing.T) {
	for _, c := range []struct {
		have, want string
		ok         bool
	}{
		{"rpc vlan:add-vlan", "rpc vlan:add-vlan", true},
		{"rpc vlan:add-vlan", "rpc vlan:add-vlans", false},
		{"rpc vlan:get-*", "rpc vlan:get-vlans", true},
		{"rpc vlan:get-*", "rpc vlan:delete-vlan", false},
		{"rpc *", "service datastore", false},
		{"service *", "service secrets", true},
		{"data /a:top", "data /a:top", true},
		{"data /a:top", "data /a:top/list=1", true},
		{"data /a:top", "data /a:top=1", true},
		{"data /a:top", "data /a:topology", false},
		{"data p:status/", "data p:status/1", true},
		{"data p:status/", "data p:secret", false},
		{"data p:status/", "data q:status/1", false},
		{"connect tcp/*", "connect tcp/22", true},
		{"connect tcp/22", "connect tcp/*", false},
		{"connect tcp/22", "connect tcp/221", false},
		{"read /usr/share", "read /usr/share/snmp", true},
		{"read /usr/share", "read /usr/shared", false},
		{"read /usr/share", "write /usr/share/snmp", false},
	} {
		if got := must(t, c.have).Covers(must(t, c.want)); got != c.ok {
			t.Errorf("%s covers %s: %v", c.have, c.want, got)
		}
	}
	for _, bad := range []string{"", "rpc", "rights all", "connect tcp/x", "connect sctp/1", "service root", "read etc/x", "read /a/../b", "read /a\nb", "certificate key", "data x"} {
		if g, err := Parse(bad); err == nil {
			t.Errorf("%q is %v", bad, g)
		}
	}
}

func TestNothingIsGrantedByDefault(t *testing.T) {
	m := &pluginv1.Manifest{Name: "p", Version: "1", Reads: []string{"/a:b"}, Uses: []string{"topology"}, Streams: []string{"s"}, Roles: []string{"r"},
		Labels: map[string]string{"listens": "tls"}, Requests: []*pluginv1.Request{{Kind: "rpc", Value: "vlan:add-vlan", Why: "ports\x1b[2J"}, {Kind: "read", Value: "setting:lists"}}}
	requests, err := Requests(m)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, r := range requests {
		list = append(list, r.String())
		if strings.ContainsRune(r.Words(), 0x1b) {
			t.Errorf("%q", r.Words())
		}
		if p := NewPermit(requests, Held{}); p.Allows(r.Kind, r.Value) != r.FromSettings() {
			t.Errorf("%s without a decision", r)
		}
	}
	if want := "certificate identity,certificate trust,data /a:b,plugins topology,read setting:lists,rpc vlan:add-vlan,service datastore,service events,service roles"; strings.Join(list, ",") != want {
		t.Errorf("%v", list)
	}
	var needed *NeededError
	err = Held{}.Check(m, requests)
	if !errors.As(err, &needed) || len(needed.Requests) != 8 || fault.KindOf(err) != fault.Denied || !strings.Contains(err.Error(), "PRIVATE KEY") {
		t.Errorf("%v", err)
	}
	h := Held{}.Grant("ann", time.Time{}, must(t, "rpc *"), must(t, "certificate *"), must(t, "data *"), must(t, "plugins *"), must(t, "service *"))
	if err := h.Check(m, requests); err != nil {
		t.Error(err)
	}
	p := NewPermit(requests, h)
	if !p.Allows(RPC, "vlan:add-vlan") || p.Allows(RPC, "vlan:delete-vlan") || p.Allows(Service, Secrets) {
		t.Error("a grant gives more than the manifest requests, or less")
	}
	if p := NewPermit(requests, h.Refuse("ann", time.Time{}, must(t, "rpc vlan:add-vlan"))); p.Allows(RPC, "vlan:add-vlan") || !p.Allows(Service, Datastore) {
		t.Error("a refusal of a part")
	}
	if err := h.Refuse("ann", time.Time{}, must(t, "rpc *")).Check(m, requests); err != nil {
		t.Errorf("a refusal is a decision: %v", err)
	}
	m.Requests = append(m.Requests, &pluginv1.Request{Kind: "root", Value: "x"})
	if _, err := Requests(m); err == nil {
		t.Error("an unknown kind")
	}
}
