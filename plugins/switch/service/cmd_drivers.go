package service

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/models"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/operations"
	"ctl.internal/sdk/switchdriver"
)

// cmdDrivers shows which drivers there are, or with a switch the order they are asked in.
func (s *Service) cmdDrivers() commands.Command {
	return commands.Command{
		Name:    "switch:drivers",
		Summary: "Show the switch drivers and what each is for",
		Safe:    true,
		Help: "A driver is chosen for a switch by the Driver column of the switch list, else by its model, else by the\n" +
			"longest prefix of its sysObjectID, else by its sysDescr. What it cannot do the standard-MIB driver does.\n" +
			"Drivers are plugins: install the feature of one, and the switches it is for are its own at once.",
		Run: func(_ context.Context, in *commands.Invocation) error {
			return in.Emit(s.driverTable(), nil)
		},
	}
}

func (s *Service) driverTable() commands.Table {
	t := commands.Table{Columns: []commands.Column{{
		Title: "Driver",
		Key:   "driver",
	}, {Title: "Version", Key: "version"},
		{
			Title: "State",
			Key:   "state",
			Max:   60,
		}, {Title: "Switches", Key: "switches", Right: true},
		{
			Title: "For",
			Key:   "for",
			Max:   60,
		}, {Title: "Operations", Key: "operations", Max: 120}}}
	count := map[string]int{}
	for _, e := range s.inventory.Entries() {
		count[s.drivers.Choices(e.Switch())[0].Name]++
	}
	for _, d := range s.drivers.Drivers() {
		t.Add(
			d.Name,
			d.Version,
			d.State,
			count[d.Name],
			commands.List(", ", d.For),
			commands.List(" ", d.Operations),
		)
	}
	return t
}

// cmdVendors shows the vendor-specific configuration in force.
func (s *Service) cmdVendors() commands.Command {
	return commands.Command{
		Name:    "switch:vendors",
		Summary: "Show the vendor-specific configuration and what is wrong with it",
		Safe:    true,
		Help: "Models whose functions etc/switch_VendorSpecificSwitchConfig.xml describes, and every line that cannot be used.\n" +
			"The file is read again when it has changed. What it does not describe is done in the default way.",
		Run: func(ctx context.Context, in *commands.Invocation) error {
			r, _ := s.vendorModels(ctx, operations.None{})
			return in.Emit(r, r.formatTable)
		},
	}
}

// cmdModels shows the results of the tests with recordings of real switches.
func (s *Service) cmdModels() commands.Command {
	return commands.Command{
		Name:    "switch:models",
		Summary: "Show which models are known to work",
		Safe:    true,
		Help: "What the tests read of recordings of real switches: a number is how many there were, a blank is a table that the\n" +
			"device does not offer, or its recording does not have. Other models with the standard MIBs work alike.",
		Run: func(ctx context.Context, in *commands.Invocation) error {
			r, err := s.modelLines(ctx, operations.None{})
			if err != nil {
				return err
			}
			return in.Emit(r.Entries, nil)
		},
	}
}

// modelLines is RPC models of module switch.
func (s *Service) modelLines(context.Context, operations.None) (*rows, error) {
	all, err := models.All()
	if err != nil {
		return nil, err
	}
	t := commands.Table{
		Empty: "No results",
		Columns: []commands.Column{{
			Title: "Vendor",
			Key:   "vendor",
		}, {Title: "Model", Key: "model"}},
	}
	for _, c := range [][2]string{{"Ports", "ports"}, {"Neighbours", "neighbors"}, {"Links", "links"}, {"VLANs", "vlans"}, {"Addresses", "addresses"},
		{"ARP", "arp"}, {"STP", "stp"}, {"Counters", "counters"}} {
		t.Columns = append(t.Columns, commands.Column{
			Title: c[0],
			Key:   c[1],
			Right: true,
		})
	}
	t.Columns = append(t.Columns, commands.Column{
		Title: "Wrong",
		Key:   "wrong",
		Max:   60,
	})
	for _, r := range all {
		t.Add(
			r.Vendor,
			r.Model,
			r.Ports,
			r.Neighbors,
			r.Links,
			r.VLANs,
			r.Addresses,
			r.ARP,
			r.STP,
			r.Counters,
			strings.Join(r.Wrong, "; "),
		)
	}
	return &rows{t}, nil
}

type vendorModel struct {
	Model     string   `json:"model"`
	Ports     int      `json:"ports,omitempty"`
	Functions []string `json:"functions"`
	Switches  int      `json:"switches"`
}

type vendorModels struct {
	Path     string        `json:"path"`
	Models   []vendorModel `json:"models"`
	Problems []string      `json:"problems"`
}

// vendorModels are the models that the vendor-specific configuration describes.
func (s *Service) vendorModels(context.Context, operations.None) (*vendorModels, error) {
	f := s.vendors.File()
	count := map[string]int{}
	for _, e := range s.inventory.Entries() {
		count[e.Model]++
	}
	r := &vendorModels{
		Path:     f.Path,
		Models:   []vendorModel{},
		Problems: []string{},
	}
	for _, name := range slices.Sorted(maps.Keys(f.Models)) {
		m := vendorModel{
			Model:     name,
			Ports:     f.Models[name].Ports,
			Functions: []string{},
			Switches:  count[name],
		}
		for _, fn := range f.Models[name].Functions {
			m.Functions = append(m.Functions, fn.Name+" ("+fn.Channel+")")
		}
		r.Models = append(r.Models, m)
	}
	for _, p := range f.Problems {
		r.Problems = append(r.Problems, p.String())
	}
	return r, nil
}

func (r *vendorModels) formatTable() string {
	if r.Path == "" {
		return "There is no vendor-specific configuration.\n"
	}
	t := commands.Table{
		Empty: "No model is described.",
		Columns: []commands.Column{{Title: "Model"}, {
			Title: "Ports",
			Right: true,
		}, {
			Title: "Switches",
			Right: true,
		}, {Title: "Functions"}},
	}
	for _, m := range r.Models {
		t.Add(m.Model, m.Ports, m.Switches, strings.Join(m.Functions, ", "))
	}
	return t.String() + strings.Join(append(slices.Clone(r.Problems), r.Path), "\n") + "\n"
}

// cmdACLs shows the access lists of a switch.
func (s *Service) cmdACLs() commands.Command {
	return commands.Command{
		Name:    "switch:acls",
		Summary: "Show the access lists of a switch",
		Safe:    true,
		Help: "Reads the access profiles and their rules from the switch, by a driver that can. What the switch does not\n" +
			"show of a rule is empty.\n\nExample: switch:acls sw1",
		Arguments: s.switchArg(true),
		Run: func(ctx context.Context, in *commands.Invocation) error {
			r, err := switchHandler(s, s.aclLines)(ctx, whichIn{Switch: in.Arg("switch")})
			if err != nil {
				return err
			}
			return in.Emit(r.Entries, nil)
		},
	}
}

func (s *Service) aclLines(
	ctx context.Context,
	sw *switchdriver.Switch,
	in whichIn,
) (*rows, error) {
	d, known, err := driver.For[switchdriver.ACLReader](ctx, s.drivers, sw, "ReadAcl")
	if err != nil {
		return nil, err
	}
	table, err := d.ReadACL(ctx, known)
	if err != nil {
		return nil, err
	}
	t := commands.Table{
		Empty: "The switch has no access lists.",
		Columns: []commands.Column{{
			Title: "Profile",
			Key:   "profile-id",
			Right: true,
		},
			{
				Title: "Name",
				Key:   "profile-name",
			}, {
				Title: "Layer",
				Key:   "acl-layer",
			}, {Title: "Rule", Key: "rule-id", Right: true},
			{
				Title: "Ports",
				Key:   "port-list",
				Max:   60,
			}, {Title: "Action", Key: "acl-action"},
			{
				Title: "Mask",
				Key:   "mask",
				Max:   60,
			}, {Title: "Match", Key: "match", Max: 60}},
	}
	for _, e := range table {
		p := e.GetProfile()
		mask := formatMatch(p.VlanMask, "%#x", p.GetSrcIpMask(), p.GetDstIpMask())
		if len(e.Rules) == 0 {
			t.Add(
				p.GetProfileId(),
				p.GetProfileName(),
				p.GetLayer(),
				nil,
				commands.List[uint32](",", nil),
				nil,
				mask,
				nil,
			)
		}
		for _, r := range e.Rules {
			t.Add(
				p.GetProfileId(),
				p.GetProfileName(),
				p.GetLayer(),
				r.GetRuleId(),
				commands.List(",", r.GetPorts()),
				r.GetAction(),
				mask,
				formatMatch(r.VlanId, "%d", r.GetSrcIp(), r.GetDstIp()),
			)
		}
	}
	return &rows{t}, nil
}

// formatMatch is what a profile masks or a rule matches, in the words of the requests.
func formatMatch(vlan *uint32, form, src, dst string) string {
	var out []string
	if vlan != nil {
		out = append(out, "vlan "+fmt.Sprintf(form, *vlan))
	}
	if src != "" {
		out = append(out, "src-ip "+src)
	}
	if dst != "" {
		out = append(out, "dst-ip "+dst)
	}
	return strings.Join(out, " ")
}
