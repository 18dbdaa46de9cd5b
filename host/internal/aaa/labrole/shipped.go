package labrole

import (
	"slices"
	"strings"

	"ctl.internal/internal/nearest"
	"ctl.internal/sdk/fault"
)

// Shipped are the roles that labs use; none is in force until it is installed.
func Shipped() []Role {
	reads := []Permit{
		{Number: 10, Resource: "/**", Actions: []string{"get"}},
		{Number: 20, Resource: "/rests/operations/**", Actions: []string{"post"}, ReadOnly: true},
	}
	with := func(more ...Permit) []Permit { return slices.Concat(reads, more) }
	const system = "/rests/operations/ctl-system:"
	return []Role{
		{
			Name:        "viewer",
			Description: "Reads: data, pages and operations that change nothing.",
			Permits:     reads,
		},
		{
			Name:        "operator",
			Description: "Reads, and has operations carried out; changes no data in the trees, and nothing of the controller.",
			Permits: with(
				Permit{Number: 30, Resource: "/rests/operations/**", Actions: []string{"post"}},
			),
		},
		{
			Name:        "auditor",
			Description: "Reads, the audit and the log of the controller too, and changes nothing.",
			Permits: with(
				Permit{
					Number:   30,
					Resource: system + "show",
					Actions:  []string{"post"},
					ReadOnly: true,
					Names:    []string{"audit:*", "access:roles", "access:requests", "access:throttled", "access:blocked", "access:tokens"},
				},
				Permit{Number: 40, Resource: system + "get-log", Actions: []string{"post"}, ReadOnly: true},
			),
		},
		{
			Name:        "driver-tester",
			Description: "Reads, and installs features and restarts plugins of some names.",
			Permits: with(
				Permit{Number: 30, Resource: system + "install-feature", Actions: []string{"post"}, named: true},
				Permit{Number: 40, Resource: system + "uninstall-feature", Actions: []string{"post"}, named: true},
				Permit{Number: 50, Resource: system + "restart-plugin", Actions: []string{"post"}, named: true},
				Permit{Number: 60, Resource: system + "get-plugin", Actions: []string{"post"}, named: true},
			),
		},
	}
}

// Install is a shipped role, as it is stored; names are what the operations of driver-tester may name.
func Install(name string, names []string) (Role, error) {
	var known []string
	for _, r := range Shipped() {
		known = append(known, r.Name)
		if r.Name != name {
			continue
		}
		needs := slices.ContainsFunc(r.Permits, func(p Permit) bool { return p.named })
		switch {
		case needs && len(names) == 0:
			return Role{}, fault.New(
				fault.Missing,
				"the role %s needs the names of the features and plugins that it may install and restart: --names my-driver,ctl-my-driver",
				name,
			)
		case !needs && len(names) > 0:
			return Role{}, fault.New(fault.Invalid, "the role %s has no use for names", name)
		}
		for i := range r.Permits {
			if r.Permits[i].named {
				r.Permits[i].Names = names
			}
		}
		return r, nil
	}
	return Role{}, fault.New(
		fault.NotFound,
		"there is no role %s to install%s; there are: %s",
		name,
		nearest.Hint(name, known),
		strings.Join(known, ", "),
	)
}
