package service

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/internal/lab/snmprec"
	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mibdriver"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/plugins/switch/switchlist"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/operations"
)

// played are the RPCs of a plugin whose one switch, 02:00:00:00:00:01, answers the lines of a recording.
func played(t *testing.T, lines string) operations.Mux {
	t.Helper()
	return playedService(t, lines).rpcMux()
}

// playedService is that plugin; it can only read.
func playedService(t *testing.T, lines string) *Service {
	t.Helper()
	m, err := snmprec.Read(strings.NewReader(lines))
	if err != nil {
		t.Fatal(err)
	}
	h := snmpagent.NewHost()
	t.Cleanup(h.Close)
	s, err := h.Listen(netip.MustParseAddrPort("127.0.0.1:0"), snmpagent.New(snmpagent.Config{MIB: m, ReadCommunity: "public"}))
	if err != nil {
		t.Fatal(err)
	}
	list, problems := switchlist.Parse("played", fmt.Appendf(nil, "MAC,IP,SNMP_Community,CLI_Username,CLI_Password,Model,Port\n02:00:00:00:00:01,127.0.0.1,public,admin,password,generic,%d\n", s.Addr().Port()))
	if len(list) != 1 {
		t.Fatal(problems)
	}
	c := snmp.NewClient(snmp.Options{Timeout: 10 * time.Second})
	t.Cleanup(c.Close)
	standard := mibdriver.New(c)
	inventory := switchlist.New(nil)
	inventory.Set("played", list, nil)
	survey := discovery.New(discovery.Options{Inventory: inventory, Observe: standard.Observe})
	t.Cleanup(survey.Close)
	if _, err := survey.Discover(t.Context(), discovery.All, nil); err != nil {
		t.Fatal(err)
	}
	return &Service{inventory: inventory, drivers: driver.New(driver.Options{Standard: standard}), survey: survey, standard: standard}
}

// ask invokes an RPC and returns its output.
func ask(t *testing.T, mux operations.Mux, rpc, input string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	module, name, _ := strings.Cut(rpc, ":")
	out, err := mux.Invoke(ctx, &operations.Request{Module: module, RPC: name, Input: json.RawMessage(input)})
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), nil
}

// bridgeOfTwo is a bridge with two ports.
const bridgeOfTwo = `1.3.6.1.2.1.1.3.0|67|100000
1.3.6.1.2.1.1.5.0|4|sw6
1.3.6.1.2.1.2.2.1.2.1|4|port 1
1.3.6.1.2.1.2.2.1.2.2|4|port 2
1.3.6.1.2.1.2.2.1.7.1|2|1
1.3.6.1.2.1.2.2.1.7.2|2|1
1.3.6.1.2.1.2.2.1.8.1|2|1
1.3.6.1.2.1.2.2.1.8.2|2|1
1.3.6.1.2.1.17.1.4.1.2.1|2|1
1.3.6.1.2.1.17.1.4.1.2.2|2|2
`

// An entry that is not found is missing only if the whole forwarding table could be read.
func TestEntryOfPartialTable(t *testing.T) {
	const sixArcs = "1.3.6.1.2.1.17.7.1.2.2.1.2.252.236.218.44.166.201|2|1\n"
	const right = "1.3.6.1.2.1.17.7.1.2.2.1.2.7.2.0.0.0.0.9|2|2\n1.3.6.1.2.1.17.7.1.2.2.1.3.7.2.0.0.0.0.9|2|3\n"
	const other = "1.3.6.1.2.1.17.4.3.1.2.252.236.218.44.166.201|2|1\n"
	for name, k := range map[string]struct {
		lines string
		mac   uint64
		kind  fault.Kind
		want  string
	}{
		"no row can be decoded":                        {sixArcs, 0xfcecda2ca6c9, fault.Downstream, "dot1qTpFdbTable: 1 rows cannot be decoded"},
		"one row of two cannot be decoded":             {sixArcs + right, 0xfcecda2ca6c9, fault.Downstream, "dot1qTpFdbTable: 1 rows cannot be decoded"},
		"one row of two, asked for the other":          {sixArcs + right, 0x020000000009, fault.Internal, `"port":2`},
		"no row can be decoded, the other table right": {sixArcs + other, 0xfcecda2ca6c9, fault.Internal, `"port":1`},
		"the other table right, and without it":        {sixArcs + other, 0x020000000008, fault.NotFound, "has no entry"},
		"all can be decoded":                           {right, 0x020000000008, fault.NotFound, "has no entry"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ask(t, played(t, bridgeOfTwo+k.lines), "fdb:get-fdb-entry", fmt.Sprintf(`{"node-id":%d,"vlan-id":7,"dest-mac-addr":%d}`, 0x020000000001, k.mac))
			if err != nil {
				got = err.Error()
			}
			if (err == nil) != (k.kind == fault.Internal) || err != nil && fault.KindOf(err) != k.kind || !strings.Contains(got, k.want) {
				t.Errorf("%s (%v), want %v with %s", got, err, k.kind, k.want)
			}
		})
	}
}

// Addresses that neighbours announce are shown, those of IPv6 as well: by LLDP, and by CDP.
func TestNeighborsWithIPv6(t *testing.T) {
	mux := played(t, bridgeOfTwo+`1.0.8802.1.1.2.1.3.1.0|2|4
1.0.8802.1.1.2.1.3.2.0|4x|020000000001
1.0.8802.1.1.2.1.3.7.1.2.1|2|5
1.0.8802.1.1.2.1.3.7.1.3.1|4|port 1
1.0.8802.1.1.2.1.4.1.1.4.0.1.1|2|4
1.0.8802.1.1.2.1.4.1.1.5.0.1.1|4x|02000000aa01
1.0.8802.1.1.2.1.4.1.1.6.0.1.1|2|5
1.0.8802.1.1.2.1.4.1.1.7.0.1.1|4|eth0
1.0.8802.1.1.2.1.4.1.1.9.0.1.1|4|host6
1.0.8802.1.1.2.1.4.2.1.3.0.1.1.1.4.192.0.2.6|2|2
1.0.8802.1.1.2.1.4.2.1.3.0.1.1.2.16.32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.7|2|2
1.3.6.1.4.1.9.9.23.1.2.1.1.3.2.1|2|20
1.3.6.1.4.1.9.9.23.1.2.1.1.4.2.1|4x|20010db8000000000000000000000008
1.3.6.1.4.1.9.9.23.1.2.1.1.6.2.1|4|phone6
1.3.6.1.4.1.9.9.23.1.2.1.1.7.2.1|4|Port 1
`)
	got, err := ask(t, mux, "switch:neighbors", `{}`)
	for _, want := range []string{`"neighbor":"host6","neighbor-port":"eth0","address":["192.0.2.6","2001:db8::7"],"protocol":"lldp"`,
		`"neighbor":"phone6","neighbor-port":"Port 1","address":["2001:db8::8"],"protocol":"cdp"`} {
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("%s %v\nwant %s", got, err, want)
		}
	}
	if got, err = ask(t, mux, "switch:find-address", `{"address":"2001:db8::7"}`); err != nil || !strings.Contains(got, `"port":"port 1"`) || !strings.Contains(got, `"how":"neighbor"`) {
		t.Errorf("find: %s %v", got, err)
	}
}

// PVIDs and the spanning tree of the ports are shown where the switch has no tables of VLANs.
func TestPortsWithoutVLANTables(t *testing.T) {
	const tree = "1.3.6.1.2.1.17.2.15.1.3.1|2|5\n1.3.6.1.2.1.17.2.15.1.3.2|2|2\n1.3.6.1.2.1.17.2.15.1.4.1|2|1\n1.3.6.1.2.1.17.2.15.1.4.2|2|1\n"
	const pvids = "1.3.6.1.2.1.17.7.1.4.5.1.1.1|66|10\n1.3.6.1.2.1.17.7.1.4.5.1.1.2|66|20\n"
	for name, k := range map[string]struct{ lines, want, not string }{
		"both":                {tree + pvids, `"pvid":10,"stp-state":"FORWARDING"`, "partial"},
		"PVIDs alone":         {pvids, `"pvid":20}`, "stp-state"},
		"spanning tree alone": {tree, `"stp-state":"BLOCKING"`, "pvid"},
		"neither":             {"", `"port":"port 2","number":2`, "pvid"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ask(t, played(t, bridgeOfTwo+k.lines), "switch:ports", `{"switch":"02:00:00:00:00:01"}`)
			if err != nil || !strings.Contains(got, k.want) || strings.Contains(got, k.not) || strings.Contains(got, "tagged-vlan") {
				t.Errorf("%s %v\nwant %s, and no %s", got, err, k.want, k.not)
			}
		})
	}
}
