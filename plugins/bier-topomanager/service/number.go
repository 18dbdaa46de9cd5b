package service

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"ctl.internal/internal/bier"
	"ctl.internal/plugins/bier-topomanager/model"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/state"
)

// numberIn is the input of number-subdomain.
type numberIn struct {
	of
	Domain    *uint16  `json:"domain-id"`
	SubDomain *uint16  `json:"sub-domain-id"`
	Nodes     []string `json:"node"`
	BSL       bier.BSL `json:"bitstringlength"`
	IGP       string   `json:"igp-type"`
	IPv4      string   `json:"ipv4-pool"`
	IPv6      string   `json:"ipv6-pool"`
	LabelBase uint32   `json:"label-base"`
	Apply     bool     `json:"apply"`
	Proposal  string   `json:"proposal"`
}

// numberOut is what was proposed, and applied if that was asked for.
type numberOut struct {
	bier.ConfigureOutput
	Proposal string           `json:"proposal,omitempty"`
	Applied  bool             `json:"applied"`
	Nodes    []model.Numbered `json:"node,omitempty"`
	Warnings []string         `json:"warning,omitempty"`
}

// numbering is the input as the model has it.
func (in *numberIn) numbering() (out model.Numbering, err error) {
	switch {
	case in.Domain == nil:
		return out, fmt.Errorf("domain-id is missing")
	case in.SubDomain == nil:
		return out, fmt.Errorf("sub-domain-id is missing")
	}
	out = model.Numbering{
		Domain:    *in.Domain,
		SubDomain: *in.SubDomain,
		BSL:       in.BSL,
		IGP:       in.IGP,
		LabelBase: in.LabelBase,
	}
	for _, node := range in.Nodes {
		out.Nodes = append(out.Nodes, bier.ShortID(node))
	}
	for _, pool := range []struct {
		name, text string
		to         *netip.Prefix
	}{{"ipv4-pool", in.IPv4, &out.IPv4}, {"ipv6-pool", in.IPv6, &out.IPv6}} {
		if pool.text == "" {
			continue
		}
		*pool.to, err = netip.ParsePrefix(pool.text)
		if err != nil {
			return out, fmt.Errorf("%s %q is no prefix, such as 10.0.0.0/24", pool.name, pool.text)
		}
	}
	return out, nil
}

// numberSubDomain proposes numbers, and applies them if that is asked for.
func (s *Service) numberSubDomain(ctx context.Context, in numberIn) (numberOut, error) {
	p, err := s.propose(ctx, &in)
	out := numberOut{}
	failed := err != nil
	out.ConfigureOutput, err = bier.Configured(err, nil)
	if failed || err != nil {
		return out, err
	}
	out.Proposal, out.Applied, out.Nodes = p.ID, in.Apply, p.Nodes
	for _, w := range p.Change.Warnings {
		out.Warnings = append(out.Warnings, w.Error())
	}
	return out, nil
}

// propose computes a proposal and, in the same transaction, applies it if that is asked for.
func (s *Service) propose(ctx context.Context, in *numberIn) (p *model.Proposal, err error) {
	n, err := in.numbering()
	if err != nil {
		return nil, err
	}
	now := s.data.Store.Now()
	t := s.data.Members(now, in.Topology)
	err = model.Found(t, in.Topology)
	if err != nil {
		return nil, err
	}
	p, err = model.Number(t, n)
	if err != nil || !in.Apply {
		return p, err
	}
	one := map[string]bool{} // nodes whose router has one sub-domain
	for i := range p.Change.Nodes {
		x := &p.Change.Nodes[i]
		one[x.ID] = s.onlyOneSubDomain(ctx, in.Topology, x.ID, x.Params.Domains)
	}
	_, err = s.data.changeTopology(ctx, in.Topology, false, func(tx *state.Tx, t *bier.Topology, _ []bier.Channel) (*model.Change, error) {
		p, err = model.Number(t, n)
		if err != nil {
			return nil, err
		}
		if in.Proposal != "" && in.Proposal != p.ID {
			return nil, fmt.Errorf(
				"the proposal %s is not what would be applied now (%s), because the topology or the input has changed: look at it again",
				in.Proposal,
				p.ID,
			)
		}
		return p.Change, s.checkNumbered(tx, t, p.Change, one)
	})
	return p, err
}

// checkNumbered says which node cannot get its numbers.
func (s *Service) checkNumbered(
	tx *state.Tx,
	t *bier.Topology,
	c *model.Change,
	one map[string]bool,
) error {
	for i := range c.Nodes {
		x := &c.Nodes[i]
		err := s.data.checkDistinctNode(tx, t, x.ID)
		if err == nil {
			err = model.CheckAbilities(x, one[x.ID])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// numberOptions are those of bier:number.
func (s *Service) numberOptions(topology commands.Option) []commands.Option {
	number := func(name, help, absent string) commands.Option {
		return commands.Option{
			Name:    name,
			Help:    help,
			Type:    commands.Int,
			Default: absent,
		}
	}
	return []commands.Option{
		topology,
		number("domain", "domain-id", "1"),
		number("sub-domain", "sub-domain-id", "0"),
		number("bsl", "bitstringlength of nodes without one", "256"),
		number("label-base", "first label of the first block of a router", "100000"),
		{
			Name:   "igp",
			Help:   "igp-type of nodes without one; that of the other members when absent",
			Values: []string{"ISIS", "OSPF"},
		},
		{
			Name: "ipv4-pool",
			Help: "prefix that BFR-prefixes are taken from, 10.0.0.0/24",
		},
		{Name: "ipv6-pool", Help: "the same of IPv6"},
		{
			Name: "apply",
			Type: commands.Bool,
			Help: "apply the numbers; without it they are only shown",
		},
		{
			Name: "proposal",
			Help: "apply only if the proposal is this one, which was shown",
		},
	}
}

// numberNodes is the command bier:number.
func (s *Service) numberNodes(ctx context.Context, in *commands.Invocation) error {
	q := numberIn{
		IGP:      in.Option("igp"),
		IPv4:     in.Option("ipv4-pool"),
		IPv6:     in.Option("ipv6-pool"),
		Nodes:    in.Args["node"],
		Apply:    in.Flag("apply"),
		Proposal: in.Option("proposal"),
	}
	q.Topology = in.Option("topology")
	ids := s.data.IDs(s.data.Store.Now())
	if q.Topology == "" && len(ids) == 1 {
		q.Topology = ids[0]
	}
	if q.Topology == "" {
		return fmt.Errorf("there are several topologies or none: name one with --topology")
	}
	values := map[string]uint64{}
	for name, bits := range map[string]int{
		"domain":     16,
		"sub-domain": 16,
		"bsl":        16,
		"label-base": 32,
	} {
		v, err := strconv.ParseUint(in.Option(name), 10, bits)
		if err != nil {
			return fmt.Errorf("--%s %s is no number in its range", name, in.Option(name))
		}
		values[name] = v
	}
	domain, sub := uint16(values["domain"]), uint16(values["sub-domain"])
	q.Domain, q.SubDomain, q.BSL, q.LabelBase = &domain, &sub, bier.BSL(values["bsl"]), uint32(values["label-base"])
	out, err := s.numberSubDomain(ctx, q)
	if err != nil {
		return err
	}
	if out.Result.Cause != nil {
		return fmt.Errorf("%s", *out.Result.Cause)
	}
	return showNumbers(in, &out)
}

// showNumbers shows a proposal.
func showNumbers(in *commands.Invocation, out *numberOut) error {
	t := &commands.Table{
		Empty: "The topology has no nodes.",
		Columns: []commands.Column{
			{Title: "Node", Key: "node-id"},
			{Title: "BFR-id", Key: "bfr-id", Right: true},
			{Title: "BFR-prefix", Key: "bfr-prefix"},
			{
				Title: "Length",
				Key:   "bitstringlength",
				Right: true,
			},
			{Title: "IGP", Key: "igp-type"},
			{Title: "Labels", Key: "labels"},
			{Title: "New", Key: "new"},
		},
	}
	for _, n := range out.Nodes {
		labels := ""
		if n.LabelSize > 0 {
			labels = fmt.Sprintf("%d-%d", n.LabelBase, n.LabelBase+uint32(n.LabelSize)-1)
		}
		prefixes := slices.DeleteFunc([]string{n.IPv4Prefix, n.IPv6Prefix}, func(p string) bool {
			return p == ""
		})
		t.Add(
			n.Node,
			n.BFRID,
			strings.Join(prefixes, " "),
			n.BSL,
			n.IGP,
			labels,
			cmp.Or(strings.Join(n.New, " "), "nothing"),
		)
	}
	err := in.Emit(t, nil)
	if err != nil {
		return err
	}
	for _, w := range out.Warnings {
		fmt.Fprintln(in.Stderr, "warning:", w)
	}
	if out.Applied {
		fmt.Fprintln(in.Stderr, "Applied.")
		return nil
	}
	fmt.Fprintf(
		in.Stderr,
		"Nothing was changed. The same with --apply --proposal %s applies exactly this.\n",
		out.Proposal,
	)
	return nil
}
