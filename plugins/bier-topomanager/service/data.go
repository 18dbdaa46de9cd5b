package service

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"ctl.internal/internal/bier"
	"ctl.internal/plugins/bier-topomanager/model"
	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/state"
	"ctl.internal/sdk/topology"
)

// data is the projection of all that the plugin reads: the BIER topologies where they are kept, the configuration
// tree bier-network-topology, and what is needed to fill it from sources.
type data struct {
	*bier.Trees
	set settings
	// Routers is what bier-service knows of routers.
	Routers bier.Routers
	Store   *state.Store
	// Observed says by topology-id what plugins that are sources see. The holder of the role
	// that imports writes it.
	Observed *state.Table[observed]
	// Derived are the topologies that were made of sources.
	Derived *state.Table[struct{}]
	// Imported are the networks that users imported, by their ids.
	Imported *state.Table[topology.Topology]
	// Networks, Points and Lines are what users configured in network-topology.
	Networks *state.Tree[network]
	Points   *state.Tree[point]
	Lines    *state.Tree[line]
}

// observed is what plugins see of a topology: the ids of nodes and links here.
type observed struct {
	Sources []string `json:"sources"`
	Nodes   []string `json:"nodes"`
	Links   []string `json:"links"`
	all     bool     // nothing is known of what they do not see
}

// network is a topology of network-topology, without the lists in it.
type network struct {
	ID string `json:"topology-id"`
}

// point is a node of network-topology, with how it is reached where it is a mounted router.
type point struct {
	ID     string `json:"node-id"`
	Host   string `json:"netconf-node-topology:host"`
	Port   uint16 `json:"netconf-node-topology:port"`
	Driver string `json:"netconf-node-topology:driver"`
	TPs    []struct {
		ID string `json:"tp-id"`
	} `json:"termination-point"`
}

// UnmarshalJSON reads both forms of a mount.
func (p *point) UnmarshalJSON(text []byte) error {
	type members point
	flat, _ := bier.FlattenMount(text) // the plugin of mounts refuses
	return json.Unmarshal(flat, (*members)(p))
}

// line is a link of network-topology.
type line struct {
	ID     string `json:"link-id"`
	Source struct {
		Node string `json:"source-node"`
		TP   string `json:"source-tp"`
	} `json:"source"`
	Dest struct {
		Node string `json:"dest-node"`
		TP   string `json:"dest-tp"`
	} `json:"destination"`
}

// newData returns the data, which is there after open. What is to be notified of changes is
// asked for in between.
func newData(set settings) *data {
	const path = "/network-topology:network-topology/topology=*"
	return &data{
		set:      set,
		Trees:    bier.NewTrees(nil),
		Routers:  bier.NewRouters(),
		Observed: state.NewTable[observed](state.Private("observed/")),
		Derived:  state.NewTable[struct{}](state.Private("derived/")),
		Imported: state.NewTable[topology.Topology](state.Private("import/")),
		Networks: state.NewTree[network](path).Bare(),
		Points:   state.NewTree[point](path + "/node=*"),
		Lines:    state.NewTree[line](path + "/link=*"),
	}
}

// open follows the data until ctx ends.
func (d *data) open(ctx context.Context, h *host.Client) (err error) {
	d.Store, err = state.Open(ctx, h, append(
		slices.Concat(d.Views(), d.Routers.Views()),
		d.Observed,
		d.Derived,
		d.Imported,
		d.Networks,
		d.Points,
		d.Lines,
	)...)
	return err
}

// changeTopology commits what decide makes of a topology, and of its channels if needed: they are then a condition
// of the change.
func (d *data) changeTopology(ctx context.Context, id string, needed bool,
	decide func(*state.Tx, *bier.Topology, []bier.Channel) (*model.Change, error)) (c *model.Change, err error) {
	_, err = d.Store.Update(ctx, func(tx *state.Tx) error {
		t := d.Members(tx, id)
		if err := model.Found(t, id); err != nil {
			return err
		}
		var channels []bier.Channel
		if needed {
			if channels, err = d.readChannels(tx, id); err != nil {
				return err
			}
		}
		if c, err = decide(tx, t, channels); err != nil {
			return err
		}
		return d.putChange(tx, id, c)
	})
	return c, err
}

func (d *data) putChange(tx *state.Tx, id string, c *model.Change) error {
	for _, n := range c.Nodes {
		if err := d.Nodes.Put(tx, n, id, n.ID); err != nil {
			return err
		}
	}
	for _, x := range c.Domains {
		if err := d.Domains.Put(tx, x, id, domainKey(x.ID)); err != nil {
			return err
		}
	}
	for _, x := range c.Gone {
		d.Domains.Delete(tx, id, domainKey(x))
	}
	return nil
}

// readChannels returns the channels of a topology; one that cannot be read may need anything.
func (d *data) readChannels(r state.Reader, id string) ([]bier.Channel, error) {
	for key, err := range d.Store.Broken(d.Channels) {
		if strings.HasPrefix(key, d.Channels.Path(id)) {
			return nil, fault.New(fault.InUse, "it is not known whether channels need it: %v", err)
		}
	}
	return d.ChannelsOf(r, id), nil
}

// checkTransaction refuses changes of the tree by others that break a rule, and derives it from changes
// of network-topology; see sdk.Plugin.
func (d *data) checkTransaction(_ context.Context, tx *state.Tx) error {
	if err := d.deriveConfigured(tx); err != nil {
		return err
	}
	now := d.Store.Now()
	ids := map[string]bool{}
	for _, id := range append(d.IDs(now), d.IDs(tx.Snapshot())...) {
		ids[id] = true
	}
	var l fault.List
	for id := range ids {
		before := d.Members(now, id)
		if reflect.DeepEqual(before, d.Members(tx.Snapshot(), id)) {
			continue
		}
		after := d.Members(tx, id)
		channels, err := d.readChannels(tx, id)
		if err == nil {
			err = model.Check(before, after, channels)
		}
		l = append(l, fault.All(err)...)
		l = append(l, d.checkJoined(tx, before, after)...)
	}
	return l.Err()
}

// checkJoined refuses nodes that come into sub-domains and that no router can be.
func (d *data) checkJoined(tx *state.Tx, before, after *bier.Topology) (l fault.List) {
	if after == nil {
		return nil
	}
	for i := range after.Nodes {
		n := &after.Nodes[i]
		many := model.SubDomains(n)
		had := 0
		if before != nil { // else the topology is new
			if old := before.Node(n.ID); old != nil {
				had = model.SubDomains(old)
			}
		}
		if had >= many {
			continue
		}
		if err := d.checkDistinctNode(tx, after, n.ID); err != nil {
			l = append(l, fault.New(fault.Invalid, "%v", err))
		}
		err := model.CheckAbilities(n, d.Routers.Lacks(tx.Snapshot(), n.ID, bierdriver.SubDomains))
		if err != nil {
			l = append(l, fault.New(fault.Invalid, "%v", err))
		}
	}
	return l
}

// checkDistinctNode says why a node of a topology is no router of its own: another node that is configured there is
// mounted at the same place.
func (d *data) checkDistinctNode(r state.Reader, t *bier.Topology, node string) error {
	own, ok := d.Points.Get(r, bier.MountTopology, node)
	if !ok || own.Host == "" {
		return nil
	}
	place := bier.Place(own.Host, own.Port, own.Driver)
	for _, p := range d.Points.All(r, bier.MountTopology) {
		if p.ID == node || p.Host == "" || bier.Place(p.Host, p.Port, p.Driver) != place {
			continue
		}
		n := t.Node(p.ID)
		if n != nil && len(n.Params.Domains) > 0 {
			return bier.OnePlace(t.ID, node, p.ID, place)
		}
	}
	return nil
}

// networkTopology returns a topology of network-topology with all in it.
func (d *data) networkTopology(r state.Reader, id string) topology.Topology {
	t := topology.Topology{
		ID:    id,
		Nodes: map[string]topology.Node{},
		Links: map[string]topology.Link{},
	}
	for _, p := range d.Points.All(r, id) {
		t.Nodes[p.ID] = p.toNode()
	}
	for _, l := range d.Lines.All(r, id) {
		t.Links[l.ID] = l.toLink()
	}
	return t
}

func (p point) toNode() topology.Node {
	n := topology.Node{
		ID:  p.ID,
		TPs: map[string]topology.TerminationPoint{},
	}
	for _, tp := range p.TPs {
		n.TPs[tp.ID] = topology.TerminationPoint{ID: tp.ID}
	}
	return n
}

func (l line) toLink() topology.Link {
	return topology.Link{
		ID:         l.ID,
		SourceNode: l.Source.Node,
		SourceTP:   l.Source.TP,
		DestNode:   l.Dest.Node,
		DestTP:     l.Dest.TP,
	}
}

// domainKey is a domain-id as the key of its entry.
func domainKey(domain uint16) string {
	return strconv.Itoa(int(domain))
}
