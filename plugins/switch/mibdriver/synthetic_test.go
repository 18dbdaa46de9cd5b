package mibdriver_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/internal/lab/snmpwire"
	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/mibdriver"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// synthetic serves a recording of testdata, made for these tests after the manner of real
// switches. Its VLANs are files name@VLAN; without views, they are not shown.
func synthetic(t *testing.T, name, version string, views bool) (*mibdriver.Driver, *switchdriver.Switch) {
	t.Helper()
	return agentOf(t, name, version, func(string) bool { return views })
}

// agentOf is synthetic with some of the views.
func agentOf(t *testing.T, name, version string, shows func(vlan string) bool) (*mibdriver.Driver, *switchdriver.Switch) {
	t.Helper()
	cfg := snmpagent.Config{MIB: load(t, filepath.Join("testdata", name+".snmprec")), ReadCommunity: "public", Views: map[string]snmpagent.MIB{}}
	files, err := filepath.Glob(filepath.Join("testdata", name+"@*.snmprec"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if _, vid, ok := strings.Cut(strings.TrimSuffix(f, ".snmprec"), "@"); ok && shows(vid) {
			cfg.Views["public@"+vid], cfg.Views["vlan-"+vid] = load(t, f), load(t, f)
		}
	}
	sw := &switchdriver.Switch{NodeId: 0x020000000001}
	if version == "3" {
		cfg.EngineID = []byte("ctl-lab-engine")
		cfg.Users = []*snmpwire.User{{Name: "lab"}}
	}
	h := snmpagent.NewHost()
	t.Cleanup(h.Close)
	s, err := h.Listen(loopback(0), snmpagent.New(cfg))
	if err != nil {
		t.Fatal(err)
	}
	sw.Address, sw.Snmp = s.Addr().Addr().String(), access(s.Addr().Port())
	if sw.Snmp.Version = version; version == "3" {
		sw.Snmp.User = "lab"
	}
	c := snmp.NewClient(snmp.Options{Timeout: time.Second, Retries: 1})
	t.Cleanup(c.Close)
	return mibdriver.New(c), sw
}

// One VLAN of a Cisco that cannot be read, whichever it is, gives the tables of the others, and is named.
func TestCiscoVLANThatFails(t *testing.T) {
	all := []string{"1 02:00:00:00:11:01 1 3", "10 02:00:00:00:12:01 10102 3", "10 02:00:00:00:12:02 56 3", "10 02:00:00:00:12:03 10104 3",
		"20 02:00:00:00:12:02 56 3", "20 02:00:00:00:13:01 10103 3"}
	for _, version := range []string{"2c", "3"} {
		for _, vid := range []string{"10", "20"} {
			d, sw := agentOf(t, "ios", version, func(vlan string) bool { return vlan != vid })
			p, err := d.FDBPage(deadline(t), sw, driver.Query{Limit: 100})
			if err != nil {
				t.Errorf("version %s, VLAN %s: %v", version, vid, err)
				continue
			}
			want := slices.DeleteFunc(slices.Clone(all), func(e string) bool { return strings.HasPrefix(e, vid+" ") })
			if diff := cmp.Diff(want, fdbText(p.Entries)); diff != "" {
				t.Errorf("version %s, VLAN %s (-want +got):\n%s", version, vid, diff)
			}
			if len(p.Partial) != 1 || p.Partial[0].Table != "dot1dTpFdbTable of VLAN "+vid || !strings.Contains(p.Partial[0].Why, "vlan-"+vid) {
				t.Errorf("version %s, VLAN %s: partial %v", version, vid, p.Partial)
			}
			id, err := strconv.ParseUint(vid, 10, 32)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := d.ReadFDB(deadline(t), sw, uint32(id), 0x020000001202); fault.KindOf(err) != fault.Downstream {
				t.Errorf("version %s: an entry of VLAN %s, which fails: %v", version, vid, err)
			}
		}
	}
}

// Switches whose bridge does not list the ports: interfaces that are ports, by type and
// name, and no others.
func TestPortsOfInterfaces(t *testing.T) {
	for name, want := range map[string]string{
		"ios":     "1 Gi0/1 bridge, 56 Po1 bridge, 10102 Gi0/2, 10103 Gi0/3, 10104 Gi0/4",
		"nxos":    "1 Ethernet1/1 bridge, 4106 port-channel11 bridge, 83886080 mgmt0, 436211712 Ethernet1/2, 436215808 Ethernet1/3",
		"srlinux": "16382 ethernet-1/1, 49150 ethernet-1/2, 537133055 lag1",
		"exos":    "1001 1:1, 1002 1:2, 2001 2:1",
		"entity":  "1 Slot 1 Port 1, 2 Slot 1 Port 2",
		"timos":   "1342177282 lag-2, 1610891264 1/1/1, 1610891272 1/1/2",
	} {
		d, sw := synthetic(t, name, "2c", true)
		o, err := d.Observe(deadline(t), sw)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, p := range o.Ports {
			s := fmt.Sprint(p.Number, " ", p.Name)
			if p.Bridged {
				s += " bridge"
			}
			got = append(got, s)
		}
		if d := cmp.Diff(want, strings.Join(got, ", ")); d != "" {
			t.Errorf("%s: ports (-want +got):\n%s", name, d)
		}
	}
}

func vlansText(all []*switchdriver.VLAN) (out []string) {
	for _, v := range all {
		out = append(out, fmt.Sprint(v.VlanId, " ", v.Name, " ", v.EgressPorts, " ", v.UntaggedPorts))
	}
	return out
}

func fdbText(all []*switchdriver.FDBEntry) (out []string) {
	for _, e := range all {
		out = append(out, fmt.Sprintf("%d %s %d %d", e.VlanId, mib.MAC(e.Mac), e.Port, e.Type))
	}
	return out
}

// Cisco: VLANs of CISCO-VTP-MIB, and the forwarding table of each VLAN, by the community
// "NAME@ID" or in the context "vlan-ID".
func TestCisco(t *testing.T) {
	for _, version := range []string{"2c", "3"} {
		d, sw := synthetic(t, "ios", version, true)
		vlans, err := d.ReadVLANs(deadline(t), sw)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]string{"1 default [1 56 10104] [1 56]", "10 users [56 10102 10104] [10102 10104]", "20 voice [56 10103 10104] [10103]"}, vlansText(vlans)); d != "" {
			t.Errorf("version %s: VLANs (-want +got):\n%s", version, d)
		}
		fdb, err := d.ReadFDB(deadline(t), sw, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]string{"1 02:00:00:00:11:01 1 3", "10 02:00:00:00:12:01 10102 3", "10 02:00:00:00:12:02 56 3", "10 02:00:00:00:12:03 10104 3",
			"20 02:00:00:00:12:02 56 3", "20 02:00:00:00:13:01 10103 3"}, fdbText(fdb)); d != "" {
			t.Errorf("version %s: forwarding table (-want +got):\n%s", version, d)
		}
		one, err := d.ReadFDB(deadline(t), sw, 20, 0x020000001202)
		if d := cmp.Diff([]string{"20 02:00:00:00:12:02 56 3"}, fdbText(one)); err != nil || d != "" {
			t.Errorf("version %s: one entry: %v\n%s", version, err, d)
		}
		if _, err := d.ReadFDB(deadline(t), sw, 10, 0x020000001301); fault.KindOf(err) != fault.NotFound {
			t.Errorf("version %s: an entry of another VLAN: %v", version, err)
		}
		if _, err := d.WriteVLAN(deadline(t), sw, &switchdriver.VLAN{VlanId: 40}, true, false); err == nil {
			t.Error("a VLAN is made by MIBs that are only read")
		}
	}
	d, sw := synthetic(t, "nxos", "2c", true)
	vlans, err := d.ReadVLANs(deadline(t), sw)
	if d := cmp.Diff([]string{"1 default [4106 436211712] [4106 436211712]", "10 VLAN0010 [1 4106] [1]"}, vlansText(vlans)); err != nil || d != "" {
		t.Errorf("NX-OS: VLANs: %v\n%s", err, d)
	}
	fdb, err := d.ReadFDB(deadline(t), sw, 0, 0)
	if d := cmp.Diff([]string{"10 02:00:00:00:21:01 1 3", "10 02:00:00:00:21:02 4106 3"}, fdbText(fdb)); err != nil || d != "" {
		t.Errorf("NX-OS: forwarding table: %v\n%s", err, d)
	}
}

// An agent that does not show its VLANs: no table that lacks most of the entries, but a
// fault that says what the list's community must see.
func TestCiscoWithoutViews(t *testing.T) {
	d, sw := synthetic(t, "ios", "3", false)
	_, err := d.ReadFDB(deadline(t), sw, 0, 0)
	if fault.KindOf(err) != fault.Downstream || !strings.Contains(err.Error(), "a separate bridge table for each VLAN, but not for VLAN 10") || !strings.Contains(err.Error(), "vlan-10") {
		t.Errorf("got %v", err)
	}
	if strings.Contains(err.Error(), "public") {
		t.Errorf("the fault shows the community: %v", err)
	}
}

// An aggregate whose members announce its port id is one edge: LAG-MIB says what the members are (lag-a), LLDP
// (lag-b), ifStackTable (lag-c), or only the other end (lag-d).
func TestAggregate(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"lag-a", "lag-b", "60[1 2] 60[1 2] true"},
		{"lag-c", "lag-d", "60[1 2] 1+2[1 2] true"},
		{"lag-d", "lag-c", "1+2[1 2] 60[1 2] true"},
	} {
		var obs []*discovery.Observation
		for i, name := range []string{c.a, c.b} {
			d, sw := synthetic(t, name, "2c", false)
			sw.NodeId += uint64(i)
			o, err := d.Observe(deadline(t), sw)
			if err != nil {
				t.Fatal(err)
			}
			if o, err = d.Refresh(deadline(t), sw, o, true); err != nil {
				t.Fatal(err)
			}
			obs = append(obs, o)
		}
		n := discovery.Build(obs, time.Unix(0, 0))
		var got []string
		for _, e := range n.Edges {
			got = append(got, fmt.Sprint(e.Tail.Port, e.TailMembers, " ", e.Head.Port, e.HeadMembers, " ", e.Confirmed))
		}
		if len(got) != 2 || got[0] != c.want || len(n.Unresolved) > 0 {
			t.Errorf("%s and %s: edges %q, want %q first; not placed: %v", c.a, c.b, got, c.want, n.Unresolved)
		}
	}
}
