package mibdriver_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/mibdriver"
	"ctl.internal/plugins/switch/models"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

var update = flag.Bool("update", false, "write the results of the recordings again")

// vendorOf names the enterprise in a sysObjectID.
func vendorOf(objectID string) string {
	arcs := strings.Split(strings.TrimPrefix(objectID, "."), ".")
	if len(arcs) < 7 {
		return "unknown"
	}
	names := map[string]string{"9": "Cisco", "11": "HP", "171": "D-Link", "890": "Zyxel", "1916": "Extreme", "1991": "Brocade", "2011": "Huawei", "2636": "Juniper",
		"14988": "MikroTik", "25506": "H3C", "30065": "Arista"}
	if n := names[arcs[6]]; n != "" {
		return n
	}
	return "enterprise " + arcs[6]
}

// read notes what a table gave: how many entries, that there is no such table, or why it could not be read.
func read(r *models.Result, what string, into *int, n int, err error) {
	switch {
	case err == nil && n > 0:
		*into = n
	case err == nil, fault.KindOf(err) == fault.Unsupported:
		r.Lacks = append(r.Lacks, what)
	default:
		r.Wrong = append(r.Wrong, what+": "+err.Error())
	}
}

func modelOf(t *testing.T, d *mibdriver.Driver, sw *switchdriver.Switch, o *discovery.Observation) models.Result {
	_, model, _ := strings.Cut(strings.TrimSuffix(sw.Model, ".snmprec"), "_")
	r := models.Result{Vendor: vendorOf(o.SysOID), Model: strings.ToUpper(model), Source: "recording"}
	read(&r, "ports", &r.Ports, len(o.Ports), nil)
	read(&r, "neighbours", &r.Neighbors, len(o.Neighbors), nil)
	vlans, err := d.ReadVLANs(deadline(t), sw)
	read(&r, "VLANs", &r.VLANs, len(vlans), err)
	fdb, err := d.ReadFDB(deadline(t), sw, 0, 0)
	read(&r, "forwarding table", &r.Addresses, len(fdb), err)
	arp, err := d.ReadARP(deadline(t), sw, "")
	read(&r, "ARP", &r.ARP, len(arp), err)
	stp, _, err := d.ReadSTP(deadline(t), sw, 0)
	read(&r, "spanning tree", &r.STP, len(stp), err)
	counters, err := d.ReadCounters(deadline(t), sw)
	n := 0
	for _, i := range counters.Interfaces {
		if i.In.Bits > 0 {
			n++
		}
	}
	read(&r, "counters", &r.Counters, n, err)
	for _, c := range o.Cut {
		r.Wrong = append(r.Wrong, c.Table+": "+c.Why)
	}
	return r
}

// The table of models that are known to work is what the recordings give now.
func TestModels(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(recordings(t), "*.snmprec"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	h := snmpagent.NewHost()
	t.Cleanup(h.Close)
	c := snmp.NewClient(snmp.Options{})
	t.Cleanup(c.Close)
	d := mibdriver.New(c)
	addresses := map[string]string{"dlink_dgs-3627g": "00:1e:58:5c:09:00", "dlink_dgs-3420-28tc": "10:62:eb:b0:c6:00", "dlink_dgs-1510-28xmp-me": "18:0f:76:0c:bb:a0",
		"dlink_dgs-1510-28x-me": "40:9b:cd:db:32:40", "dlink_des-3526": "00:15:e9:3e:15:1a", "zynos_mgs3712": "40:4a:03:40:1c:a3"}
	var switches []*switchdriver.Switch
	for _, f := range files {
		a := addresses[strings.TrimSuffix(filepath.Base(f), ".snmprec")]
		if a == "" {
			t.Fatalf("%s: its MAC address is not known here", f)
		}
		switches = append(switches, play(t, h, f, a))
	}
	obs, n := observe(t, d, switches)
	var got []models.Result
	for i, sw := range switches {
		r := modelOf(t, d, sw, obs[i])
		for _, e := range n.Edges {
			if e.Confirmed && e.Head.Node == discovery.NodeID(obs[i].Node) {
				r.Links++
			}
		}
		got = append(got, r)
	}
	slices.SortFunc(got, func(a, b models.Result) int { return strings.Compare(a.Vendor+" "+a.Model, b.Vendor+" "+b.Model) })
	if *update {
		text, err := json.MarshalIndent(got, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join("..", "models", "models.json"), append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := models.All()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("models.json is not fresh; go test ./plugins/switch/mibdriver -run TestModels -update writes it (-want +got):\n%s", diff)
	}
}
