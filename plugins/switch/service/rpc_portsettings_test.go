package service

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"ctl.internal/internal/lab/network"
	"ctl.internal/sdk/fault"
)

// portCall is a call of module switch-port.
type portCall struct {
	rpc, input string
	kind       fault.Kind // Internal: it succeeds
	want       string
}

func (b *bench) checkPorts(t *testing.T, calls []portCall) {
	t.Helper()
	for _, c := range calls {
		got, err := b.call(t, "switch-port", c.rpc, c.input)
		if err != nil {
			got = err.Error()
		}
		failed := err != nil && (c.kind == fault.Internal || fault.KindOf(err) != c.kind)
		if failed || err == nil && c.kind != fault.Internal || !strings.Contains(got, c.want) {
			t.Errorf("%s %s\n got %s\nwant %s (%v)", c.rpc, c.input, got, c.want, c.kind)
		}
	}
}

func TestPortSettingsByName(t *testing.T) {
	b := newLab(t, network.Options{Topology: "chain:2", Ports: 4, Hosts: 1, Models: []string{"D-Link_DGS-3120"}})
	b.checkPorts(t, []portCall{
		{"get-ports", `{"switch":"sw1","port":"1/3"}`, fault.Internal,
			`"entry":[{"port":"1/3","number":3,"state":"up","description":"","power":"on","power-priority":"low","power-status":"searching"`},
		{"get-ports", `{"switch":"sw1"}`, fault.Internal, `"power-supply":[{"group":1,"budget-w":370,"drawn-w":7}]`},
		{"set-port", `{"switch":"sw1","port":"1/3","description":"room 3","power-priority":"critical"}`, fault.Internal, `"result":"SUCCESS"`},
		{"get-ports", `{"switch":"sw1","port":"3"}`, fault.Internal, `"description":"room 3","power":"on","power-priority":"critical"`},
		{"set-port", `{"switch":"sw1","port":"1/3","state":"down","power":"off"}`, fault.Internal, `"result":"SUCCESS"`},
		{"get-ports", `{"switch":"sw1","port":"3"}`, fault.Internal, `"state":"down","description":"room 3","power":"off","power-priority":"critical","power-status":"disabled"`},
		{"bounce-port", `{"switch":"sw1","port":"1/3","pause-ms":100}`, fault.InUse, "is off already"},
		{"set-port", `{"switch":"sw1","port":"1/3","state":"up","power":"on","description":""}`, fault.Internal, `"result":"SUCCESS"`},
		{"bounce-port", `{"switch":"sw1","port":"1/3","pause-ms":100}`, fault.Internal, `"result":"SUCCESS"`},
		{"bounce-port", `{"switch":"sw1","port":"1/3","pause-ms":100,"power":true}`, fault.Internal, `"result":"SUCCESS"`},
		{"set-port", `{"switch":"sw1","port":"1/3","speed-mbps":100,"duplex":"full"}`, fault.Unsupported, "the speed of port 3 cannot be set"},
		{"set-port", `{"switch":"sw1","port":"1/3","power-limit-mw":7000}`, fault.Unsupported, "power-limit-mw"},
		{"set-port", `{"switch":"sw1","port":"1/3"}`, fault.Missing, "nothing is to be changed"},
		{"set-port", `{"switch":"sw1","port":"1/9","state":"up"}`, fault.NotFound, `no port "1/9"`},
		{"set-port", `{"switch":"sw1","port":"1/3","speed-mbps":99}`, fault.Invalid, "99 is not a speed"},
	})
	if got, err := b.call(t, "switch", "ports", `{"switch":"sw1","port":"1/3"}`); err != nil || !strings.Contains(got, `"admin-state":"up"`) {
		t.Errorf("%s %v", got, err)
	}
}

// A port on which more depends is switched off with force alone.
func TestPortsAtRisk(t *testing.T) {
	b := newLab(t, network.Options{Topology: "chain:2", Ports: 4, Hosts: 1})
	b.checkPorts(t, []portCall{
		{"set-port", `{"switch":"sw1","port":"port1","state":"down"}`, fault.InUse, "it leads to switch sw2; nothing was sent"},
		{"bounce-port", `{"switch":"sw1","port":"port1","pause-ms":100}`, fault.InUse, "it leads to switch sw2"},
		{"set-port", `{"switch":"sw1","port":"port1","description":"to sw2"}`, fault.Internal, `"result":"SUCCESS"`},
		{"set-port", `{"switch":"sw1","port":"port4","state":"down"}`, fault.Internal, `"result":"SUCCESS"`},
		{"bounce-port", `{"switch":"sw1","port":"port1","pause-ms":100,"force":true}`, fault.Internal, `"result":"SUCCESS"`},
	})
	if got, err := b.call(t, "switch", "ports", `{"switch":"sw1","port":"port1"}`); err != nil || !strings.Contains(got, `"alias":"to sw2"`) {
		t.Errorf("%s %v", got, err)
	}
}

// riskOf is why a port of a switch that answers the lines of a recording is not switched off; nil: nothing depends on it.
func riskOf(t *testing.T, lines, port string) error {
	t.Helper()
	s := playedService(t, bridgeOfTwo+lines)
	sw, err := s.findNamedSwitch("02:00:00:00:00:01")
	if err != nil {
		t.Fatal(err)
	}
	number, err := s.onePort(sw, port)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return s.refuseRisk(ctx, sw, number)
}

// The way to the controller, by the switch's tables: the controller's own address, and that of the gateway.
func TestWayToController(t *testing.T) {
	const controller = "1.3.6.1.2.1.4.22.1.2.1.127.0.0.1|4x|020000000077\n1.3.6.1.2.1.4.22.1.4.1.127.0.0.1|2|3\n"
	const gateway = "1.3.6.1.2.1.4.21.1.7.0.0.0.0|64|192.0.2.1\n"
	const cidr = "1.3.6.1.2.1.4.24.4.1.4.0.0.0.0.0.0.0.0.0.192.0.2.1|64|192.0.2.1\n"
	const gatewayMAC = "1.3.6.1.2.1.4.22.1.2.1.192.0.2.1|4x|020000000077\n1.3.6.1.2.1.4.22.1.4.1.192.0.2.1|2|3\n"
	const learned = "1.3.6.1.2.1.17.7.1.2.2.1.2.1.2.0.0.0.0.119|2|2\n1.3.6.1.2.1.17.7.1.2.2.1.3.1.2.0.0.0.0.119|2|3\n"
	for name, k := range map[string]struct {
		lines, port string
		refused     bool
	}{
		"the controller's address, its port":        {controller + learned, "port 2", true},
		"the controller's address, another port":    {controller + learned, "port 1", false},
		"that of the gateway":                       {gateway + gatewayMAC + learned, "port 2", true},
		"that of the gateway, by the other table":   {cidr + gatewayMAC + learned, "port 2", true},
		"the gateway is not on the way":             {controller + gateway + strings.ReplaceAll(gatewayMAC, "77", "78") + strings.ReplaceAll(learned, "119|", "120|"), "port 2", false},
		"neither is known":                          {learned, "port 2", false},
		"it is known, but was not learned anywhere": {controller, "port 2", false},
	} {
		err := riskOf(t, k.lines, k.port)
		if (err != nil) != k.refused || err != nil && !strings.Contains(err.Error(), "it carries the way from the switch to the controller; nothing was sent") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Members of an aggregate, and the aggregate, by LAG-MIB.
func TestAggregatesAtRisk(t *testing.T) {
	const lag = "1.3.6.1.2.1.2.2.1.2.90|4|trunk 1\n1.3.6.1.2.1.2.2.1.7.90|2|1\n1.3.6.1.2.1.17.1.4.1.2.60|2|90\n" +
		"1.2.840.10006.300.43.1.2.1.1.13.1|2|90\n1.2.840.10006.300.43.1.2.1.1.13.2|2|2\n"
	for port, want := range map[string]string{
		"port 1":  "it is a member of the aggregate trunk 1",
		"trunk 1": "it is an aggregate with the member port 1",
		"port 2":  "",
	} {
		err := riskOf(t, lag, port)
		if want == "" && err != nil || want != "" && (fault.KindOf(err) != fault.InUse || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", port, err)
		}
	}
}

// The interface of an address, where the system has one with an address of its own.
func TestOwnMACs(t *testing.T) {
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range all {
		addresses, err := i.Addrs()
		if err != nil || len(i.HardwareAddr) != 6 {
			continue
		}
		for _, a := range addresses {
			p := parsePrefix(t, a.String())
			if got := ownMACs(p); len(got) == 0 || got[0].String() != i.HardwareAddr.String() && i.HardwareAddr.String() != "00:00:00:00:00:00" {
				t.Errorf("%s of %s: %v", a, i.Name, got)
			}
		}
	}
	if got := ownMACs(parsePrefix(t, "192.0.2.77/24")); len(got) > 0 {
		t.Errorf("an address that is not this machine's: %v", got)
	}
}

func parsePrefix(t *testing.T, text string) netip.Addr {
	t.Helper()
	p, err := netip.ParsePrefix(text)
	if err != nil {
		t.Fatal(err)
	}
	return p.Addr().Unmap()
}
