package shell

import (
	"context"

	"ctl.internal/sdk/commands"
)

func (s *Shell) domainList() commands.Command {
	return commands.Command{Name: "bier:domain-list", Summary: "List domains and sub-domains", Safe: true,
		Help:    "Shows each sub-domain with the number of its members and the highest BFR-id.",
		Options: []commands.Option{s.topologyOption()}, Run: s.runDomainList}
}

func (s *Shell) runDomainList(_ context.Context, in *commands.Invocation) error {
	views, err := s.views(in)
	if err != nil {
		return err
	}
	t := &commands.Table{Empty: "There are no domains; the RPC bier-topology-api:configure-domain makes them.", Columns: []commands.Column{
		{Title: "Topology", Key: "topology-id"}, {Title: "Domain", Key: "domain-id", Right: true}, {Title: "Sub-domain", Key: "sub-domain-id", Right: true},
		{Title: "Members", Key: "members", Right: true}, {Title: "Highest BFR-id", Key: "highest-bfr-id", Right: true}}}
	for i := range views {
		for _, d := range views[i].Domains {
			for _, sub := range d.SubDomains {
				members, highest := 0, uint16(0)
				for _, m := range memberIDs(&views[i], d.ID, sub.ID) {
					members, highest = members+1, max(highest, m)
				}
				t.Add(views[i].ID, d.ID, sub.ID, members, highest)
			}
		}
	}
	return in.Emit(t, nil)
}
