package compare

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ctl.internal/plugins/lab/intent"
)

// network is a network in which the tests put cables: devices sw1, sw2, … with ports 1 to 48 called Gi1/0/N.
func network(devices int, cables ...string) *Found {
	f := &Found{Nodes: map[string]*Node{}}
	for i := 1; i <= devices; i++ {
		n := &Node{
			ID:      fmt.Sprint(1000 + i),
			Name:    fmt.Sprintf("sw%d.example.net", i),
			Address: fmt.Sprintf("127.0.1.%d", i),
			MAC:     uint64(1000 + i),
		}
		for p := 1; p <= 48; p++ {
			n.Ports = append(n.Ports, Port{
				ID:   fmt.Sprint(p),
				Name: fmt.Sprintf("GigabitEthernet1/0/%d", p),
				Up:   true,
				Kbps: 1e6,
			})
		}
		f.Nodes[n.ID] = n
	}
	for _, c := range cables {
		f.connect(c)
	}
	return f
}

// connect puts a cable "sw1:1 sw2:1"; with a third word "one-sided" or "inferred".
func (f *Found) connect(text string) {
	words := strings.Fields(text)
	end := func(s string) (node, port string) {
		device, port, _ := strings.Cut(s, ":")
		return "1" + fmt.Sprintf("%03s", strings.TrimPrefix(device, "sw")), port
	}
	a, p := end(words[0])
	b, q := end(words[1])
	there := Link{
		SourceNode: a,
		SourcePort: p,
		DestNode:   b,
		DestPort:   q,
		OneSided:   slices.Contains(words, "one-sided"),
		Inferred:   slices.Contains(words, "inferred"),
	}
	back := there
	back.SourceNode, back.SourcePort, back.DestNode, back.DestPort = b, q, a, p
	f.Links = append(f.Links, there, back)
}

func read(t *testing.T, text string) *intent.Lab {
	t.Helper()
	lab, _, err := intent.Read([]byte(text), "")
	if err != nil {
		t.Fatal(err)
	}
	return lab
}

func compared(t *testing.T, lab *intent.Lab, found *Found) *Result {
	t.Helper()
	r, err := Compare(t.Context(), lab, found)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func kindsOf(r *Result) []string {
	out := []string{}
	for _, f := range r.Findings {
		out = append(out, string(f.Kind)+" "+f.Subject)
	}
	return out
}

func TestCompare(t *testing.T) {
	silent := network(2, "sw1:1 sw2:1")
	silent.Nodes["1002"].Silent = true
	down := network(2)
	down.Nodes["1001"].Ports[0].Up = false
	slow := network(2, "sw1:1 sw2:1")
	slow.Nodes["1002"].Ports[0].Kbps = 1e5
	bundle := network(2)
	for _, ends := range [][2]string{{"1001", "1002"}, {"1002", "1001"}} {
		bundle.Links = append(bundle.Links, Link{
			SourceNode:    ends[0],
			SourcePort:    "48",
			SourceMembers: []string{"1", "2"},
			DestNode:      ends[1],
			DestPort:      "48",
			DestMembers:   []string{"1", "2"},
		})
	}
	for name, c := range map[string]struct {
		lab   string
		found *Found
		want  []string
		right int
	}{
		"as it shall be, by names with and without a domain, ports by number, short and long name": {
			"links: [sw1:1 -- sw2:Gi1/0/2, 'sw2.example.net:GigabitEthernet1/0/3 -- SW3:3']",
			network(3, "sw1:1 sw2:2", "sw2:3 sw3:3"), nil, 2,
		},
		"the other way round":          {"links: [sw2:1 -- sw1:1]", network(2, "sw1:1 sw2:1"), nil, 1},
		"any port":                     {"links: [sw1 -- sw2, sw1 -- sw2]", network(2, "sw1:1 sw2:1", "sw1:2 sw2:2"), nil, 2},
		"any port, one cable too few":  {"links: [sw1 -- sw2, sw2 -- sw1]", network(2, "sw1:1 sw2:1"), []string{"link-missing sw2 -- sw1"}, 1},
		"missing":                      {"links: [sw1:1 -- sw2:1]", network(2), []string{"link-missing sw1:1 -- sw2:1"}, 0},
		"missing, but optional":        {"links: [{a: 'sw1:1', b: 'sw2:1', optional: true}]", network(2), nil, 0},
		"missing: its port is down":    {"links: [sw1:1 -- sw2:1]", down, []string{"link-missing sw1:1 -- sw2:1"}, 0},
		"one more":                     {"links: [sw1:1 -- sw2:1]", network(2, "sw1:1 sw2:1", "sw1:2 sw2:2"), []string{"link-extra sw1.example.net:GigabitEthernet1/0/2 -- sw2.example.net:GigabitEthernet1/0/2"}, 1},
		"what is inferred is no cable": {"links: [sw1:1 -- sw2:1]", network(2, "sw1:1 sw2:1", "sw1:2 sw2:2 inferred"), nil, 1},
		"two are swapped":              {"links: [sw1:1 -- sw2:1, sw1:2 -- sw3:1]", network(3, "sw1:1 sw3:1", "sw1:2 sw2:1"), []string{"link-swapped sw1:1 -- sw2:1"}, 0},
		"three are swapped": {
			"links: [sw1:1 -- sw2:1, sw1:2 -- sw3:1, sw1:3 -- sw4:1]",
			network(4, "sw1:1 sw3:1", "sw1:2 sw4:1", "sw1:3 sw2:1"), []string{"link-swapped sw1:1 -- sw2:1"}, 0,
		},
		"two pairs are swapped": {
			"links: [sw1:1 -- sw2:1, sw1:2 -- sw3:1, sw4:1 -- sw5:1, sw4:2 -- sw6:1]",
			network(6, "sw1:1 sw3:1", "sw1:2 sw2:1", "sw4:1 sw6:1", "sw4:2 sw5:1"),
			[]string{"link-swapped sw1:1 -- sw2:1", "link-swapped sw4:1 -- sw5:1"}, 0,
		},
		"a wrong port":           {"links: [sw1:1 -- sw2:1]", network(2, "sw1:1 sw2:7"), []string{"link-wrong-port sw1:1 -- sw2:1"}, 0},
		"at another device":      {"links: [sw1:1 -- sw2:1]\ndevices: {sw1: {}, sw2: {}, sw3: {}}", network(3, "sw1:1 sw3:1"), []string{"link-wrong-port sw1:1 -- sw2:1"}, 0},
		"one end alone":          {"links: [sw1:1 -- sw2:1]", network(2, "sw1:1 sw2:1 one-sided"), []string{"link-one-way sw1:1 -- sw2:1"}, 0},
		"too slow":               {"links: [{a: 'sw1:1', b: 'sw2:1', speed: 1G}]", slow, []string{"link-wrong-speed sw1:1 -- sw2:1"}, 0},
		"silent":                 {"links: [sw1:1 -- sw2:1]\ndevices: {sw1: {}, sw2: {}}", silent, []string{"device-silent sw2"}, 1},
		"a device is missing":    {"devices: {sw1: {}, sw9: {}}\nlinks: [sw1:1 -- sw9:1]", network(1), []string{"device-missing sw9", "link-missing sw1:1 -- sw9:1"}, 0},
		"it is optional":         {"devices: {sw1: {}, sw9: {optional: true}}\nlinks: [sw1:1 -- sw9:1]", network(1), nil, 0},
		"another at its address": {"devices: {sw1: {address: 127.0.1.2}}", network(2), []string{"device-other sw1"}, 0},
		"no such port":           {"links: [sw1:Te9/9/9 -- sw2:1]", network(2), []string{"port-unknown sw1:Te9/9/9 -- sw2:1"}, 0},
		"members of an aggregation": {
			"links: [sw1:1 -- sw2:1, sw1:2 -- sw2:2]", bundle, nil, 2,
		},
		"cables that lead out of the lab": {"devices: {sw1: {}, sw2: {}}\nlinks: [sw1:1 -- sw2:1]", network(3, "sw1:1 sw2:1", "sw2:2 sw3:1"), nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := compared(t, read(t, c.lab), c.found)
			if got := kindsOf(r); !slices.Equal(got, append([]string{}, c.want...)) || len(r.Right) != c.right {
				t.Errorf("%d right, findings %q\n%+v", len(r.Right), got, r.Findings)
			}
		})
	}
}

// 1,000 cables of which 20 are swapped in pairs: each pair is named, and nothing else.
func TestSwappedAmongAThousand(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const devices, links = 100, 1000
	lab := &intent.Lab{}
	used := map[int]int{}
	for len(lab.Links) < links {
		a, b := 1+random.IntN(devices), 1+random.IntN(devices)
		if a == b || used[a] >= 48 || used[b] >= 48 {
			continue
		}
		used[a]++
		used[b]++
		lab.Links = append(lab.Links, intent.Link{
			A:    intent.End{Device: fmt.Sprintf("sw%d", a), Port: fmt.Sprint(used[a])},
			B:    intent.End{Device: fmt.Sprintf("sw%d", b), Port: fmt.Sprint(used[b])},
			Line: len(lab.Links) + 1,
		})
	}
	text, err := intent.Write(lab, intent.Own)
	if err != nil {
		t.Fatal(err)
	}
	lab = read(t, string(text))
	there := slices.Clone(lab.Links)
	want := map[string]bool{}
	for _, i := range random.Perm(links / 2)[:20] {
		x, y := &there[2*i], &there[2*i+1]
		x.B, y.B = y.B, x.B
		want[lab.Links[2*i].String()] = true
	}
	found := network(devices)
	for _, l := range there {
		found.connect(l.A.String() + " " + l.B.String())
	}
	r := compared(t, lab, found)
	for _, f := range r.Findings {
		if f.Kind != LinkSwapped || !want[f.Subject] || len(f.Intended) != 2 {
			t.Errorf("%+v", f)
		}
		delete(want, f.Subject)
	}
	if len(want) > 0 || len(r.Right) != links-40 {
		t.Errorf("%d right; not found: %v", len(r.Right), want)
	}
}

func TestCompareVLANs(t *testing.T) {
	lab := read(t, "vlans: [{id: 100, ports: ['sw1:5', 'sw3:5']}]\ndevices: {sw1: {}, sw2: {}, sw3: {}}")
	found := network(3, "sw1:1 sw2:1", "sw2:2 sw3:1")
	all := map[string]Members{
		"1001": {100: {"5", "1"}},
		"1002": {100: {"1", "2"}},
		"1003": {100: {"1", "5"}},
	}
	for name, c := range map[string]struct {
		change func(map[string]Members)
		why    map[string]string
		want   string
	}{
		"it leads there":          {func(map[string]Members) {}, nil, "[]"},
		"a trunk without it":      {func(m map[string]Members) { m["1002"] = Members{100: {"1"}} }, nil, "it does not lead from sw1.example.net:GigabitEthernet1/0/5 to sw3.example.net:GigabitEthernet1/0/5: sw2.example.net:GigabitEthernet1/0/2 is not in it"},
		"a port that is not in":   {func(m map[string]Members) { m["1003"] = Members{100: {"1"}} }, nil, "sw3:5 is not in VLAN 100"},
		"a table that is not had": {func(map[string]Members) {}, map[string]string{"1003": "it does not answer"}, "could not be read: it does not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			changed := maps.Clone(all)
			c.change(changed)
			tables, why := map[*Node]Members{}, map[*Node]string{}
			for id, n := range found.Nodes {
				tables[n] = changed[id]
				why[n] = c.why[id]
			}
			findings, err := CompareVLANs(t.Context(), lab, found, tables, why)
			if got := fmt.Sprint(findings); err != nil || !strings.Contains(got, c.want) {
				t.Error(got, err)
			}
		})
	}
}

// What is found, written down and read again, is as it shall be, in each form.
func TestDescribedNetworkIsRight(t *testing.T) {
	found := network(4, "sw1:1 sw2:1", "sw2:2 sw3:1", "sw3:2 sw4:1", "sw4:2 sw1:2")
	for _, form := range []intent.Form{intent.Own, intent.Containerlab, intent.Netlab, intent.NetBox} {
		text, err := intent.Write(Describe(found, "ring"), form)
		if err != nil {
			t.Fatal(err)
		}
		lab, detected, err := intent.Read(text, "")
		if err != nil || detected != form {
			t.Errorf("%s is read as %s, %v\n%s", form, detected, err, text)
			continue
		}
		if r := compared(t, lab, found); len(r.Findings) > 0 || len(r.Right) != 4 {
			t.Errorf("%s: %d right, %+v\n%s", form, len(r.Right), r.Findings, text)
		}
	}
}
