package shell

import (
	"context"
	"maps"
	"slices"
	"strings"

	"ctl.internal/sdk/commands"
)

// vendors shows the vendor-specific configuration in force.
func (s *Shell) vendors() commands.Command {
	return commands.Command{
		Name: "switch:vendors", Summary: "Show the vendor-specific configuration and what is wrong with it", Safe: true,
		Help: "Models whose functions etc/switch_VendorSpecificSwitchConfig.xml describes, and every line that cannot be used.\n" +
			"The file is read again when it has changed. What it does not describe is done in the default way.",
		Run: func(_ context.Context, in *commands.Invocation) error {
			f := s.Vendors.File()
			type model struct {
				Model     string   `json:"model"`
				Ports     int      `json:"ports,omitempty"`
				Functions []string `json:"functions"`
				Switches  int      `json:"switches"`
			}
			type result struct {
				Path     string   `json:"path"`
				Models   []model  `json:"models"`
				Problems []string `json:"problems"`
			}
			count := map[string]int{}
			for _, e := range s.Inventory.Entries() {
				count[e.Model]++
			}
			r := result{Path: f.Path, Models: []model{}, Problems: []string{}}
			for _, name := range slices.Sorted(maps.Keys(f.Models)) {
				m := model{Model: name, Ports: f.Models[name].Ports, Functions: []string{}, Switches: count[name]}
				for _, fn := range f.Models[name].Functions {
					m.Functions = append(m.Functions, fn.Name+" ("+fn.Channel+")")
				}
				r.Models = append(r.Models, m)
			}
			for _, p := range f.Problems {
				r.Problems = append(r.Problems, p.String())
			}
			return in.Emit(r, func() string {
				if f.Path == "" {
					return "There is no vendor-specific configuration.\n"
				}
				t := commands.Table{Empty: "No model is described.", Columns: []commands.Column{{Title: "Model"}, {Title: "Ports", Right: true}, {Title: "Switches", Right: true}, {Title: "Functions"}}}
				for _, m := range r.Models {
					t.Add(m.Model, m.Ports, m.Switches, strings.Join(m.Functions, ", "))
				}
				return t.String() + strings.Join(append(slices.Clone(r.Problems), f.Path), "\n") + "\n"
			})
		},
	}
}
