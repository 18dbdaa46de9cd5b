// Package dialect is the decision core of the driver: it turns a configuration into
// the tree of a router's YANG modules, compares that with what the router holds, and
// makes the edit-config of the difference. It does no I/O.
//
// Draft00 and RFC8349 are the forms of ietf-bier; For chooses by what a router
// announces. What goes over sessions is package device.
package dialect

import (
	"fmt"

	"ctl.internal/internal/netconf"
	"ctl.internal/internal/netconf/xmltree"
	"ctl.internal/sdk/bierdriver"
)

// Namespaces of the modules.
const (
	nsBier      = "urn:ietf:params:xml:ns:yang:ietf-bier"
	nsRoutingEx = "urn:ietf:params:xml:ns:yang:ietf-routing-ex"
	nsRouting   = "urn:ietf:params:xml:ns:yang:ietf-routing"
	nsMulticast = "urn:ietf:params:xml:ns:yang:ietf-multicast-information"
)

// Names of the dialects, as in BierRouter.dialect.
const (
	Draft00 = "ietf-bier-2016-07-23" // draft-ietf-bier-bier-yang-00 below ietf-routing-ex
	RFC8349 = "ietf-bier-rfc8349"    // later drafts, which augment ietf-routing of RFC 8349
)

// Names lists the dialects, the preferred one first.
func Names() []string { return []string{Draft00, RFC8349} }

// Dialect is a form of the configuration. It is for one router: channels are only
// there when the router has them.
type Dialect struct {
	Name     string
	top      []*schema
	channels bool
	write    func(*bierdriver.Global) (*xmltree.Node, error)
	read     func(data *xmltree.Node) (*bierdriver.Global, error)
}

// New returns a dialect by its name.
func New(name string, channels bool) (*Dialect, error) {
	d := &Dialect{Name: name, channels: channels}
	switch name {
	case Draft00:
		d.top, d.write, d.read = []*schema{draft00Schema()}, writeDraft00, readDraft00
	case RFC8349:
		d.top, d.write, d.read = []*schema{rfc8349Schema()}, writeRFC8349, readRFC8349
	default:
		return nil, fmt.Errorf("there is no dialect %q, only %q", name, Names())
	}
	if channels {
		d.top = append(d.top, channelSchema())
	}
	return d, nil
}

// For chooses a dialect by the modules that a router has; wanted is the operator's
// choice, or empty.
func For(c netconf.Capabilities, wanted string) (*Dialect, error) {
	_, channels := c.Module("ietf-multicast-information")
	if wanted != "" {
		return New(wanted, channels)
	}
	bier, ok := c.Module("ietf-bier")
	if !ok {
		return nil, fmt.Errorf("the router does not announce the module ietf-bier")
	}
	_, ex := c.Module("ietf-routing-ex")
	_, routing := c.Module("ietf-routing")
	switch {
	case bier.Namespace != nsBier:
		return nil, fmt.Errorf(
			"the router's ietf-bier has the unknown namespace %.100q",
			bier.Namespace,
		)
	case ex, !routing && bier.Revision <= "2016-12-31":
		return New(Draft00, channels)
	}
	return New(RFC8349, channels)
}

// Filter selects what the driver writes: the subtrees for get-config.
func (d *Dialect) Filter() []*xmltree.Node {
	var out []*xmltree.Node
	for _, s := range d.top {
		n := xmltree.New(s.space, s.name)
		for _, k := range s.kids {
			n.Add(xmltree.New(k.space, k.name))
		}
		out = append(out, n)
	}
	return out
}

// Want is the tree of a configuration: a nameless element with top-level ones.
func (d *Dialect) Want(c *bierdriver.Config) (*xmltree.Node, error) {
	if len(c.GetChannels()) > 0 && !d.channels {
		return nil, fmt.Errorf("the router does not announce the module ietf-multicast-information, so it cannot have channels")
	}
	out := xmltree.New("", "")
	if c.GetGlobal() != nil {
		n, err := d.write(c.Global)
		if err != nil {
			return nil, err
		}
		out.Add(n)
	}
	return out.Add(writeChannels(c.GetChannels())), nil
}

// Read makes a configuration of what get-config answered.
func (d *Dialect) Read(data *xmltree.Node) (*bierdriver.Config, error) {
	g, err := d.read(data)
	if err != nil {
		return nil, err
	}
	c, err := readChannels(data)
	if err != nil {
		return nil, err
	}
	out := &bierdriver.Config{Global: g, Channels: c}
	bierdriver.Canonical(out)
	return out, nil
}

func channelSchema() *schema {
	m := nsMulticast
	entry := newList(m, "pure-multicast", "vpn-id source-address source-wildcard group-address group-wildcard", newLeaf(m, "vpn-id", "", nil),
		newLeaf(m, "source-address", "", canonicalAddress), newLeaf(m, "source-wildcard", "", nil), newLeaf(m, "group-address", "", canonicalAddress), newLeaf(m, "group-wildcard", "", nil),
		newSharedContainer(m, "multicast-overlay", newSharedContainer(m, "bier-information", newLeaf(m, "sub-domain", "", nil), newLeaf(m, "ingress-node", "0", nil),
			newList(m, "egress-nodes", "egress-node", newLeaf(m, "egress-node", "", nil)))))
	return newSharedContainer(
		m,
		"multicast-information",
		newSharedContainer(m, "pure-multicast", entry),
	)
}

func writeChannels(l []*bierdriver.Channel) *xmltree.Node {
	m := nsMulticast
	if len(l) == 0 {
		return nil
	}
	all := xmltree.New(m, "pure-multicast")
	for _, c := range l {
		info := xmltree.New(
			m,
			"bier-information",
			requiredNumberLeaf(m, "sub-domain", c.SubDomain),
			numberLeaf(m, "ingress-node", c.IngressBfrId),
		)
		for _, e := range c.EgressBfrIds {
			info.Add(xmltree.New(m, "egress-nodes", requiredNumberLeaf(m, "egress-node", e)))
		}
		all.Add(xmltree.New(m, "pure-multicast", requiredNumberLeaf(m, "vpn-id", c.VpnId), stringLeaf(m, "source-address", c.SourceAddress),
			requiredNumberLeaf(m, "source-wildcard", c.SourceWildcard), stringLeaf(m, "group-address", c.GroupAddress), requiredNumberLeaf(m, "group-wildcard", c.GroupWildcard),
			xmltree.New(m, "multicast-overlay", info)))
	}
	return xmltree.New(m, "multicast-information", all)
}

func readChannels(data *xmltree.Node) ([]*bierdriver.Channel, error) {
	r := &reader{}
	var out []*bierdriver.Channel
	for _, k := range data.Kid(nsMulticast, "multicast-information").Down("pure-multicast").All(nsMulticast, "pure-multicast") {
		c := &bierdriver.Channel{
			VpnId:          r.readNumber(k, "vpn-id", 1<<32-1),
			SourceAddress:  k.Value("source-address"),
			SourceWildcard: r.readNumber(k, "source-wildcard", 255),
			GroupAddress:   k.Value("group-address"),
			GroupWildcard:  r.readNumber(k, "group-wildcard", 255),
		}
		if info := k.Down("multicast-overlay", "bier-information"); info != nil {
			c.SubDomain, c.IngressBfrId = r.readNumber(info, "sub-domain", 65535), r.readNumber(info, "ingress-node", 65535)
			for _, e := range info.All(nsMulticast, "egress-nodes") {
				c.EgressBfrIds = append(c.EgressBfrIds, r.readNumber(e, "egress-node", 65535))
			}
		}
		out = append(out, c)
	}
	return out, r.err
}
