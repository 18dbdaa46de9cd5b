package discovery

import (
	"fmt"
	"slices"

	"ctl.internal/plugins/switch/mib"
)

// infer adds links to switches that speak neither LLDP nor CDP, from what spanning
// tree and forwarding tables show. Only ports without another link are used,
// and a segment with more than two switches makes no link.
func (b *builder) infer() {
	mute := map[int]bool{}
	for i, o := range b.obs {
		if o.Mute() {
			mute[i] = true
		}
	}
	if len(mute) == 0 {
		return
	}
	in := inference{builder: b, mute: mute, used: map[End]bool{}}
	for _, e := range b.net.Edges {
		in.used[e.Tail], in.used[e.Head] = true, true
		for _, p := range e.TailMembers { // those of the head are of the edge in the other direction
			in.used[End{e.Tail.Node, p, SNMP}] = true
		}
	}
	in.tree()
	in.forwarding()
}

type inference struct {
	*builder
	mute map[int]bool
	used map[End]bool
}

// between is two ports that may be joined.
type between struct{ i, a, j, p int }

// tree joins a port with the port its segment's designated bridge sends from.
func (in *inference) tree() {
	claims := map[End][]between{} // by the designated end
	var ends []End
	for i, o := range in.obs {
		if o.Evidence == nil {
			continue
		}
		for _, d := range o.Evidence.Designated {
			j, ok := in.known(d.Bridge)
			a := portOf(o, d.Port)
			if !ok || j == i || a < 0 || !(in.mute[i] || in.mute[j]) {
				continue
			}
			p := in.bridgePort(j, d.FarPort)
			if p < 0 {
				continue
			}
			far := in.end(j, p)
			if claims[far] == nil {
				ends = append(ends, far)
			}
			claims[far] = append(claims[far], between{i, a, j, p})
		}
	}
	for _, far := range ends {
		if c := claims[far]; len(c) > 1 {
			in.net.Unresolved = append(in.net.Unresolved, Unresolved{far.Node, far.Port, fmt.Sprintf("%d switches", len(c)),
				"by the spanning tree several switches share the segment of this port"})
			for _, w := range c {
				in.used[in.end(w.i, w.a)] = true
			}
			in.used[far] = true
			continue
		}
		in.join(claims[far][0], STP)
	}
}

// bridgePort finds a port by its number. Before IEEE 802.1D-2004 a number had eight
// bits, and the others were priority.
func (in *inference) bridgePort(j int, number uint32) int {
	for _, n := range []uint32{number, number & 0xff} {
		if p := slices.IndexFunc(in.obs[j].Ports, func(p Port) bool { return p.Bridged && p.Number == n }); p >= 0 {
			return p
		}
	}
	return -1
}

// forwarding joins two switches that see each other and none between them: a switch
// between them would be seen by both on these ports.
func (in *inference) forwarding() {
	at := make([]map[int]int, len(in.obs)) // at[i][j] is the port where i sees j
	for i, o := range in.obs {
		at[i] = map[int]int{}
		if o.Evidence == nil {
			continue
		}
		for id, macs := range o.Evidence.Seen {
			port := portOf(o, id)
			for _, m := range macs {
				if j, ok := in.known(m); ok && j != i && port >= 0 {
					if old, twice := at[i][j]; twice && old != port {
						port = -1 // seen at two ports: it moves, or there is a loop
					}
					at[i][j] = port
				}
			}
		}
	}
	for i := range in.obs {
		for j := i + 1; j < len(in.obs); j++ {
			p, seesJ := at[i][j]
			q, seesI := at[j][i]
			if !seesJ || !seesI || p < 0 || q < 0 || !(in.mute[i] || in.mute[j]) {
				continue
			}
			direct := true
			for k, via := range at[i] {
				if back, both := at[j][k]; k != j && via == p && both && back == q {
					direct = false
					break
				}
			}
			if direct {
				in.join(between{i, p, j, q}, FDB)
			}
		}
	}
}

func (in *inference) join(w between, source string) {
	x, y := in.end(w.i, w.a), in.end(w.j, w.p)
	if in.used[x] || in.used[y] || in.down(w.i, w.a) || in.down(w.j, w.p) {
		return
	}
	in.used[x], in.used[y] = true, true
	in.edge(x, y, false, source, older(in.obs[w.i].Observed, in.obs[w.j].Observed))
}

// known finds the one switch with an address.
func (in *inference) known(m mib.MAC) (int, bool) {
	found := in.byMAC[m]
	if len(found) != 1 {
		return 0, false
	}
	return found[0], true
}

func portOf(o *Observation, id string) int {
	return slices.IndexFunc(o.Ports, func(p Port) bool { return p.ID == id })
}
