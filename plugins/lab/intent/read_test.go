package intent

import (
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		form  Form
		links string // in their order
	}{
		"ours": {
			"name: bench\ndevices:\n  a: {address: 127.0.0.1}\n  b:\nlinks:\n- a:1 -- b:Gi1/0/2\n- {a: 'a:2', b: 'b:3', speed: 10G}\n",
			Own, "a:1 -- b:Gi1/0/2, a:2 -- b:3",
		},
		"containerlab, brief and extended, with what is no link between nodes": {
			"name: clos\ntopology:\n  kinds: {linux: {image: x}}\n  nodes:\n    leaf1: {kind: linux, mgmt-ipv4: 127.0.0.1}\n    spine1:\n  links:\n" +
				"  - endpoints: ['leaf1:e1-1', 'spine1:e1-1']\n  - type: veth\n    endpoints: [{node: leaf1, interface: e1-2}, {node: spine1, interface: e1-2}]\n" +
				"  - endpoints: ['leaf1:eth0', 'host:veth1']\n",
			Containerlab, "leaf1:e1-1 -- spine1:e1-1, leaf1:e1-2 -- spine1:e1-2",
		},
		"netlab, in all its forms": {
			"defaults.device: frr\nnodes: [r1, r2, r-3]\nlinks:\n- r1-r2\n- r1-r-3\n- [r1, r2]\n- r1: {ifname: eth5}\n  r2: {}\n  bandwidth: 10000\n" +
				"- interfaces: [{node: r1, ifname: eth6}, {node: r2}]\n- [r1, r2, r-3]\n",
			Netlab, "r1 -- r2, r1 -- r-3, r1 -- r2, r1:eth5 -- r2, r1:eth6 -- r2",
		},
		"NetBox": {
			"side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name,status\nsw1,dcim.interface,Gi1/0/1,sw2,dcim.interface,\"Gi1/0/2\",connected\n" +
				"sw1,dcim.interface,Gi1/0/3,sw2,dcim.interface,Gi1/0/3,planned\n",
			NetBox, "sw1:Gi1/0/1 -- sw2:Gi1/0/2",
		},
	} {
		t.Run(name, func(t *testing.T) {
			lab, form, err := Read([]byte(c.text), "")
			if err != nil {
				t.Fatal(err)
			}
			var links []string
			for _, l := range lab.Links {
				links = append(links, l.String())
			}
			if got := strings.Join(links, ", "); form != c.form || got != c.links {
				t.Errorf("%s: %s", form, got)
			}
		})
	}
}

func TestFaultsOfDocuments(t *testing.T) {
	for text, want := range map[string]string{
		"":                 "the document is empty",
		"just: this":       "is no lab that is known",
		"links: [a:1 b:1]": "line 1: \"a:1 b:1\" is no link: write DEVICE:PORT -- DEVICE:PORT",
		"links:\n- {a: 'a:1', b: 'b:1', spede: 1G}":                        "line 2: there is no member \"spede\" here: it is one of a, b, speed, optional",
		"links:\n- {a: 'a:1', b: 'b:1', speed: big}":                       "line 2: speed \"big\": write 100M, 1G, 2.5G",
		"links:\n- a:1 -- a:1":                                             "line 2: the link leads from a:1 to itself",
		"links:\n- a:1 -- b:1\n- a:1 -- c:1":                               "line 3: a:1 has a cable already: a:1 -- b:1 (line 2)",
		"devices: {a: {}}\nlinks:\n- a:1 -- bb:1":                          "line 3: bb is not among the devices",
		"vlans:\n- {id: 5000, ports: ['a:1']}":                             "line 2: VLAN 5000: an id is 1 to 4094",
		"vlans:\n- {id: 5, ports: ['a']}":                                  "line 2: VLAN 5: \"a\" names no port: write DEVICE:PORT",
		"name: [":                                                          "line 1",
		"topology: {nodes: {a: {}}, links: [{endpoints: ['a:1', 'x:1']}]}": "x is not among the devices",
		"side_a_device,side_b_device\na,\n":                                "line 2: a cable has a device at both sides",
		"links: []\nunknown: 1":                                            "unknown",
	} {
		_, _, err := Read([]byte(text), "")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// Whatever is read can be written, and is the same when it is read again.
func FuzzRead(f *testing.F) {
	f.Add("links: [a:1 -- b:2]\nvlans: [{id: 1, ports: ['a:3']}]")
	f.Add("topology: {nodes: {a: {}, b: {}}, links: [{endpoints: ['a:1', 'b:1']}]}")
	f.Add("nodes: [a, b]\nlinks: [a-b, {a: {ifname: x}, b: {}}]")
	f.Add("side_a_device,side_a_name,side_b_device,side_b_name\na,1,b,1\n")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<14 {
			return // longer texts show nothing more
		}
		lab, _, err := Read([]byte(text), "")
		if err != nil {
			return
		}
		written, err := Write(lab, Own)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range []Form{Containerlab, Netlab, NetBox, Graphviz, Mermaid} {
			if _, err := Write(lab, form); err != nil {
				t.Fatalf("%s: %v", form, err)
			}
		}
		again, _, err := Read(written, Own)
		if err != nil && len(lab.Links)+len(lab.Devices)+len(lab.VLANs) > 0 && isPlain(lab) {
			t.Fatalf("%v\n%s", err, written)
		}
		if err == nil && len(again.Links) != len(lab.Links) {
			t.Fatalf("%d links, then %d\n%s", len(lab.Links), len(again.Links), written)
		}
	})
}

// isPlain reports whether no name has what our short form gives a meaning.
func isPlain(l *Lab) bool {
	plain := func(s string) bool { return !strings.ContainsAny(s, ": \t\n\r") && s == strings.TrimSpace(s) }
	for _, d := range l.Devices {
		if !plain(d.Name) || d.Name == "" {
			return false
		}
	}
	for _, x := range l.Links {
		if !plain(x.A.Port) || !plain(x.B.Port) {
			return false
		}
	}
	return true
}
