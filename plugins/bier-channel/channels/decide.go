package channels

import (
	"fmt"
	"iter"
	"reflect"

	"ctl.internal/internal/bier"
)

// Fields are what a user says of a channel; nil = not said.
type Fields struct {
	Topology       string  `json:"topology-id"`
	Name           string  `json:"name"`
	SrcIP          *string `json:"src-ip"`
	DstGroup       *string `json:"dst-group"`
	DomainID       *uint16 `json:"domain-id"`
	SubDomainID    *uint16 `json:"sub-domain-id"`
	SourceWildcard *uint8  `json:"source-wildcard"`
	GroupWildcard  *uint8  `json:"group-wildcard"`
}

// missingField names the first field that a new channel lacks.
func (f *Fields) missingField() string {
	for _, x := range []struct {
		name string
		ok   bool
	}{{"name", f.Name != ""}, {"src-ip", f.SrcIP != nil}, {"dst-group", f.DstGroup != nil}, {"domain-id", f.DomainID != nil},
		{"sub-domain-id", f.SubDomainID != nil}, {"source-wildcard", f.SourceWildcard != nil}, {"group-wildcard", f.GroupWildcard != nil}} {
		if !x.ok {
			return x.name
		}
	}
	return ""
}

func (f *Fields) applyToChannel(c *bier.Channel) error {
	setIfGiven(&c.SrcIP, f.SrcIP)
	setIfGiven(&c.DstGroup, f.DstGroup)
	setIfGiven(&c.DomainID, f.DomainID)
	setIfGiven(&c.SubDomainID, f.SubDomainID)
	setIfGiven(&c.SourceWildcard, f.SourceWildcard)
	setIfGiven(&c.GroupWildcard, f.GroupWildcard)
	return validateChannel(c)
}

// validateChannel says what is wrong with a channel by itself.
func validateChannel(c *bier.Channel) error {
	if len(c.Name) > maxName {
		return fmt.Errorf("the name of a channel has at most %d bytes", maxName)
	}
	if c.SubDomainID > 255 {
		return fmt.Errorf("sub-domain-id %d is not within 0..255", c.SubDomainID)
	}
	_, err := c.CheckFlow()
	return err
}

func setIfGiven[T any](to *T, given *T) {
	if given != nil {
		*to = *given
	}
}

// maxName bounds the name of a channel, in bytes.
const maxName = 256

// Add returns a new channel. have is the channel of that name, nil if it does not exist, t its
// topology, nil if it does not exist.
func Add(have *bier.Channel, f *Fields, t *bier.Topology) (*bier.Channel, error) {
	if m := f.missingField(); m != "" {
		return nil, fmt.Errorf("%s is missing", m)
	}
	if have != nil {
		return nil, fmt.Errorf("channel %s exists already; modify-channel changes it", f.Name)
	}
	c := &bier.Channel{Name: f.Name}
	if err := f.applyToChannel(c); err != nil {
		return nil, err
	}
	return c, checkInTopology(t, f.Topology, c)
}

// checkInTopology says why a channel has no place in a topology.
func checkInTopology(t *bier.Topology, id string, c *bier.Channel) error {
	switch {
	case t == nil:
		return fmt.Errorf("there is no topology %s", id)
	case t.Domain(c.DomainID) == nil:
		return fmt.Errorf(
			"there is no domain %d in topology %s; configure-domain creates it",
			c.DomainID,
			id,
		)
	case !t.Domain(c.DomainID).Has(c.SubDomainID):
		return fmt.Errorf(
			"there is no sub-domain %d of domain %d in topology %s; configure-subdomain creates it",
			c.SubDomainID,
			c.DomainID,
			id,
		)
	}
	return nil
}

// Modify returns a channel as it is after a change.
func Modify(have *bier.Channel, f *Fields, t *bier.Topology) (*bier.Channel, error) {
	switch {
	case f.Name == "":
		return nil, fmt.Errorf("name is missing")
	case have == nil:
		return nil, fmt.Errorf("there is no channel %s", f.Name)
	case have.Deployed():
		return nil, fmt.Errorf(
			"channel %s is deployed from node %s; only a channel that is not deployed can be modified",
			f.Name,
			have.IngressNode,
		)
	}
	c := *have
	if err := f.applyToChannel(&c); err != nil {
		return nil, err
	}
	return &c, checkInTopology(t, f.Topology, &c)
}

// Deployment is what deploy-channel asks for.
type Deployment struct {
	Topology string            `json:"topology-id"`
	Name     string            `json:"channel-name"`
	Ingress  string            `json:"ingress-node"`
	SrcTP    string            `json:"src-tp"`
	Egress   []bier.EgressNode `json:"egress-node"`
}

// Deploy returns a channel as deployed. others are the channels of the topology.
func Deploy(
	have *bier.Channel,
	d *Deployment,
	t *bier.Topology,
	others iter.Seq[bier.Channel],
) (*bier.Channel, error) {
	switch {
	case d.Name == "":
		return nil, fmt.Errorf("channel-name is missing")
	case d.Ingress == "":
		return nil, fmt.Errorf("ingress-node is missing")
	case len(d.Egress) == 0:
		return nil, fmt.Errorf("egress-node is missing: a list of node-ids")
	case have == nil:
		return nil, fmt.Errorf(
			"there is no channel %s in topology %s; add-channel creates it",
			d.Name,
			d.Topology,
		)
	}
	c := *have
	c.IngressNode, c.SrcTP, c.EgressNodes = bier.ShortID(d.Ingress), bier.ShortID(d.SrcTP), nil
	for _, e := range d.Egress {
		n := bier.EgressNode{ID: bier.ShortID(e.ID)}
		for _, r := range e.Receivers {
			n.Receivers = append(n.Receivers, bier.Receiver{TP: bier.ShortID(r.TP)})
		}
		c.EgressNodes = append(c.EgressNodes, n)
	}
	if t == nil {
		return nil, checkInTopology(t, d.Topology, &c)
	}
	return &c, checkDeployedChannel(&c, t, others)
}

// checkDeployedChannel says why a deployed channel cannot be carried; others are the channels of the
// topology.
func checkDeployedChannel(c *bier.Channel, t *bier.Topology, others iter.Seq[bier.Channel]) error {
	plan, err := bier.PlanChannel(t, c)
	if err == nil {
		err = plan.Err()
	}
	if err != nil {
		return err
	}
	other, _, err := bier.Shares(c, others)
	if err == nil && other != "" {
		err = fmt.Errorf(
			"channel %s has the flow %s/%d %s/%d at the ingress node %s already",
			other,
			c.SrcIP,
			c.SourceWildcard,
			c.DstGroup,
			c.GroupWildcard,
			c.IngressNode,
		)
	}
	return err
}

// Check says what is wrong with a channel of a topology that somebody writes in place of
// before, nil if there was none.
func Check(
	before, c *bier.Channel,
	id string,
	t *bier.Topology,
	others iter.Seq[bier.Channel],
) error {
	if err := validateChannel(c); err != nil {
		return err
	}
	switch {
	case !c.Deployed() && len(c.EgressNodes) > 0:
		return fmt.Errorf("ingress-node is missing: egress nodes need one")
	case t == nil, !c.Deployed():
		return checkInTopology(t, id, c)
	case before != nil && before.Deployed() && !sameFlow(before, c):
		return fmt.Errorf(
			"channel %s is deployed from node %s; only a channel that is not deployed can be modified",
			c.Name,
			before.IngressNode,
		)
	}
	return checkDeployedChannel(c, t, others)
}

// sameFlow reports whether two channels differ at most in who carries them.
func sameFlow(a, b *bier.Channel) bool {
	x, y := *a, *b
	x.IngressNode, x.SrcTP, x.EgressNodes, y.IngressNode, y.SrcTP, y.EgressNodes = "", "", nil, "", "", nil
	return reflect.DeepEqual(x, y)
}
