package driver

import (
	"maps"
	"slices"

	"ctl.internal/sdk/switchdriver"
)

// Info is a driver for people.
type Info struct {
	Name       string
	Version    string
	State      string   // "ready", or why it is not
	For        []string // what it matches
	Operations []string
}

// Drivers lists the drivers there are, the standard one last.
func (c *Chooser) Drivers() []Info {
	var out []Info
	if f := c.opt.File; f != nil {
		if m := f.Match(); len(m.Models) > 0 {
			out = append(out, Info{Name: VendorFile, State: "ready", For: m.Models})
		}
	}
	for _, p := range c.registry.now() {
		i := Info{Name: p.Name, Version: p.Version, State: "ready", Operations: slices.Sorted(maps.Keys(p.operations))}
		i.For = append(i.For, p.about.Models...)
		for _, o := range p.about.SysObjectIDs {
			i.For = append(i.For, "sysObjectID "+o)
		}
		if p.about.SysDescr != "" {
			i.For = append(i.For, "sysDescr /"+p.about.SysDescr+"/")
		}
		for n := range i.For {
			i.For[n] = clean(i.For[n], maxFaultText)
		}
		switch {
		case p.err != nil:
			i.State = clean(p.err.Error(), maxFaultText)
		case !p.Ready:
			i.State = "not running"
		case p.match == nil:
			i.State = "asked what it is for"
		}
		out = append(out, i)
	}
	return append(out, Info{Name: Standard, State: "ready", For: []string{"all others"}, Operations: slices.Sorted(slices.Values(switchdriver.Operations(c.opt.Standard)))})
}
