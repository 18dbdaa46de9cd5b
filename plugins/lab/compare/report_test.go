package compare

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ctl.internal/plugins/lab/intent"
)

// bundle is a network of two devices that an aggregation connects: port 48 of ports 1 and 2 at each.
func bundle(change func(*Found)) *Found {
	f := network(2)
	for _, ends := range [][2]string{{"1001", "1002"}, {"1002", "1001"}} {
		f.Links = append(f.Links, Link{
			SourceNode:    ends[0],
			SourcePort:    "48",
			SourceMembers: []string{"1", "2"},
			DestNode:      ends[1],
			DestPort:      "48",
			DestMembers:   []string{"1", "2"},
		})
	}
	if change != nil {
		change(f)
	}
	return f
}

// changed is a network with something else.
func changed(f *Found, change func(*Found)) *Found {
	change(f)
	return f
}

func TestTextsOfFindings(t *testing.T) {
	twice := func(f *Found) {
		for _, n := range f.Nodes {
			n.Topology = "t1"
		}
		other := *f.Nodes["1001"]
		other.Topology = "t2"
		f.Nodes["other"] = &other
	}
	host := func(f *Found) {
		f.Nodes["h"] = &Node{ID: "h", Name: "host1", Ports: []Port{{ID: "eth0"}}}
		f.Links = []Link{{SourceNode: "1001", SourcePort: "1", DestNode: "h", DestPort: "eth0"}}
	}
	openflow := func(f *Found) {
		for id, n := range f.Nodes {
			n.ID, n.Name, n.MAC, n.OpenFlow = "openflow:"+id, "", 0, true
		}
	}
	for name, c := range map[string]struct {
		lab   string
		found *Found
		want  string // of each finding its kind and its text
		right int
	}{
		"an inferred link is not right": {
			"links: [sw1:1 -- sw2:1]", network(2, "sw1:1 sw2:1 inferred"),
			"link-missing no device reports it: it is only inferred from forwarding tables or the spanning tree", 0,
		},
		"an inferred link is not taken before a cable": {"links: [sw1 -- sw2]", network(2, "sw1:1 sw2:1 inferred", "sw1:2 sw2:2"), "", 1},
		"who names a port of one end chooses before who names none": {
			"links: [sw1 -- sw2, 'sw1:1 -- sw2']", network(2, "sw1:1 sw2:1", "sw1:2 sw2:2"), "", 2,
		},
		"more links than members": {
			"links: [sw1 -- sw2, sw1 -- sw2, sw1 -- sw2]", bundle(nil),
			"link-missing no device reports it, though both ports are up: do both ends send LLDP?", 2,
		},
		"a member more than intended": {
			"links: [sw1:1 -- sw2:1]", bundle(nil),
			"link-extra the lab has 1 of its 2 cables; the others are among sw1.example.net:GigabitEthernet1/0/2, sw2.example.net:GigabitEthernet1/0/2", 1,
		},
		"an aggregation by its own port": {"links: [sw1:48 -- sw2:48]", bundle(nil), "", 1},
		"an aggregation and its members": {"links: [sw1:48 -- sw2:48, 'sw1:1 -- sw2:2', 'sw1:2 -- sw2:1']", bundle(nil), "", 3},
		"a member that is down": {
			"links: [sw1:1 -- sw2:1, 'sw1:2 -- sw2:2']", bundle(func(f *Found) { f.Nodes["1002"].Ports[1].Up = false }),
			"link-missing sw2.example.net:GigabitEthernet1/0/2 is a member of the aggregation sw1.example.net:GigabitEthernet1/0/48 -- sw2.example.net:GigabitEthernet1/0/48 and is down", 1,
		},
		"a member that is slow": {
			"links: [{a: 'sw1:1', b: 'sw2:1', speed: 1G}, {a: 'sw1:2', b: 'sw2:2', speed: 1G}]", bundle(func(f *Found) { f.Nodes["1001"].Ports[1].Kbps = 1e5 }),
			"link-wrong-speed sw1.example.net:GigabitEthernet1/0/2 has 100M, not 1G", 1,
		},
		"speeds below 1 Mbit/s": {
			"links: [{a: 'sw1:1', b: 'sw2:1', speed: 64K}]", changed(network(2, "sw1:1 sw2:1"), func(f *Found) { f.Nodes["1001"].Ports[0].Kbps = 128 }),
			"link-wrong-speed sw1.example.net:GigabitEthernet1/0/1 has 128K, not 64K", 0,
		},
		"a name that two devices have": {
			"devices: {sw1: {}}", changed(network(2), twice),
			"device-missing 2 devices are called so (topologies t1, t2): name the topology, or use the id: 1001@t1, 1001@t2", 0,
		},
		"one of these by its id and topology": {"devices: {1001@t2: {}, sw2: {}}", changed(network(2), twice), "", 0},
		"two names of one device": {
			"devices: {sw1: {}, sw1.example.net: {}}", network(1), "device-other it is the same device as sw1", 0,
		},
		"a name that two ports have": {
			"links: [sw1:Gi1/0/4 -- sw2:1]", changed(network(2), func(f *Found) { f.Nodes["1001"].Ports[4].Name = "GigabitEthernet1/0/4" }),
			"port-unknown sw1 has 2 ports that are called Gi1/0/4: use the number", 0,
		},
		"another port of a device that reports nothing": {
			"links: [sw1:1 -- host1:eth1]", changed(network(1), host), "link-wrong-port sw1.example.net:GigabitEthernet1/0/1 leads to host1:eth0, not to host1:eth1", 0,
		},
		"no cable at a device that reports nothing": {
			"links: [host1:eth1 -- sw1:2]\ndevices: {sw1: {}, host1: {}}", changed(changed(network(1), host), func(f *Found) { f.Links = nil }),
			"link-missing no device reports it, though both ports are up: do both ends send LLDP?", 0,
		},
		"a hub swaps nothing": {
			"links: [sw1:1 -- sw2:1, 'sw3:1 -- sw4:1']", network(4, "sw1:1 sw3:1", "sw1:1 sw4:1"),
			"link-wrong-port sw1.example.net:GigabitEthernet1/0/1 leads to sw3.example.net:GigabitEthernet1/0/1, not to sw2.example.net:GigabitEthernet1/0/1\n" +
				"link-wrong-port sw4.example.net:GigabitEthernet1/0/1 leads to sw1.example.net:GigabitEthernet1/0/1, not to sw3.example.net:GigabitEthernet1/0/1", 0,
		},
		"an address of IPv6 in another spelling": {
			"devices: {sw1: {address: '2001:DB8:0::1'}}", changed(network(1), func(f *Found) { f.Nodes["1001"].Address = "2001:db8::1" }), "", 0,
		},
		"ids with a colon": {"links: ['openflow-1001:1 -- openflow-1002:1']", changed(network(2, "sw1:1 sw2:1"), openflow), "", 1},
		"one way of OpenFlow": {
			"links: ['openflow-1001:1 -- openflow-1002:1']", changed(changed(network(2, "sw1:1 sw2:1"), openflow), func(f *Found) { f.Links = f.Links[:1] }),
			"link-one-way only one end reports it: does the other one receive and send LLDP?", 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := compared(t, read(t, c.lab), c.found)
			var got []string
			for _, f := range r.Findings {
				got = append(got, string(f.Kind)+" "+f.Text)
			}
			if text := strings.Join(got, "\n"); text != c.want || len(r.Right) != c.right {
				t.Errorf("%d right\n%s\nwant %d\n%s", len(r.Right), text, c.right, c.want)
			}
		})
	}
}

// A comparison ends with its caller.
func TestCompareEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	lab := read(t, "links: [sw1:1 -- sw2:1]\nvlans: [{id: 1, ports: ['sw1:1']}]")
	if _, err := Compare(ctx, lab, network(2)); err == nil {
		t.Error("Compare goes on")
	}
	if _, err := CompareVLANs(ctx, lab, network(2), nil, nil); err == nil {
		t.Error("CompareVLANs goes on")
	}
}

// What is known of ports by their number is added to those that have it as their id.
func TestNamePort(t *testing.T) {
	n := &Node{MAC: 1, Ports: []Port{{ID: "1", Name: "port1", Up: true}, {ID: "if12", Name: "vlan1", Up: true}}}
	n.NamePort("5", "port5", false)
	n.NamePort("7", "vlan1", false)
	n.NamePort("1", "first", false)
	want := []Port{{ID: "1", Name: "first"}, {ID: "if12", Name: "vlan1", Up: true}, {ID: "5", Name: "port5"}}
	if !slices.Equal(n.Ports, want) {
		t.Errorf("%+v", n.Ports)
	}
}

// Any network that is found is right when it is written down, read and compared, in each form, unless devices are silent
// or report what others do not.
func TestAnyDescribedNetworkIsRight(t *testing.T) {
	for seed := range uint64(300) {
		found := anyNetwork(rand.New(rand.NewPCG(seed, 7)))
		for _, form := range []intent.Form{intent.Own, intent.Containerlab, intent.Netlab, intent.NetBox} {
			text, err := intent.Write(Describe(found, ""), form)
			if err != nil {
				t.Fatal(err)
			}
			lab, _, err := intent.Read(text, form)
			if err != nil {
				t.Fatalf("seed %d, %s: %v\n%s", seed, form, err, text)
			}
			if r := compared(t, lab, found); len(r.Findings) > 0 {
				t.Fatalf("seed %d, %s: %+v\n%s", seed, form, r.Findings, text)
			}
		}
	}
}

// anyNetwork has devices of which some have one name, ids of other topologies or colons in them; ports of one name, or
// without one; aggregations, inferred links, and ports that have several neighbours.
func anyNetwork(random *rand.Rand) *Found {
	f := &Found{Nodes: map[string]*Node{}}
	var keys []string
	for i := range 2 + random.IntN(6) {
		n := &Node{
			ID:       pick(random, fmt.Sprint(1000+i), fmt.Sprintf("openflow:%d", i), fmt.Sprintf("openflow-%d", i)),
			Name:     pick(random, "", "sw.example.net", "sw", "sw.example.org", fmt.Sprintf("sw%d", i), fmt.Sprintf("a:b%d", i%2), fmt.Sprint(1000+i/2)),
			Topology: pick(random, "flow:1", "example"),
			Address:  pick(random, "", fmt.Sprintf("127.0.1.%d", i%3)),
			MAC:      uint64(1000 + i),
		}
		if random.IntN(4) == 0 {
			n.MAC = 0
		}
		for p := range 1 + random.IntN(6) {
			n.Ports = append(n.Ports, Port{
				ID:   fmt.Sprint(p + 1),
				Name: pick(random, "", fmt.Sprintf("eth%d", p), "Gi1/0/1", fmt.Sprint(p), "a -- b", " c"),
				Up:   true,
			})
		}
		for _, id := range []string{"45", "46", "47", "48"} {
			n.Ports = append(n.Ports, Port{ID: id, Name: "po" + id, Up: true})
		}
		key := n.Topology + "\x00" + n.ID
		if f.Nodes[key] == nil {
			keys = append(keys, key)
			f.Nodes[key] = n
		}
	}
	for range random.IntN(12) {
		a, b := keys[random.IntN(len(keys))], keys[random.IntN(len(keys))]
		if a != b {
			f.connectAny(random, a, b)
		}
	}
	return f
}

func pick(random *rand.Rand, all ...string) string {
	return all[random.IntN(len(all))]
}

func (f *Found) connectAny(random *rand.Rand, a, b string) {
	portOf := func(key string) string {
		ports := f.Nodes[key].Ports
		return ports[random.IntN(len(ports)-4)].ID // the last are of the aggregation
	}
	there := Link{
		SourceNode: a,
		SourcePort: portOf(a),
		DestNode:   b,
		DestPort:   portOf(b),
		Inferred:   random.IntN(5) == 0,
	}
	if random.IntN(6) == 0 {
		there.SourcePort, there.SourceMembers = "48", []string{"46", "47"}
		there.DestPort, there.DestMembers = "48", []string{"45", "46", "47"}
	}
	back := there
	back.SourceNode, back.DestNode = there.DestNode, there.SourceNode
	back.SourcePort, back.DestPort = there.DestPort, there.SourcePort
	back.SourceMembers, back.DestMembers = there.DestMembers, there.SourceMembers
	f.Links = append(f.Links, there, back)
}
