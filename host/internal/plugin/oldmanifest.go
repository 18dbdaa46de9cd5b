package plugin

import (
	"fmt"
	"slices"
	"strings"

	"ctl.internal/internal/wire"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// translateRouteLabels replaces the labels in which the contract before had the other addresses of a plugin by the
// fields of its routes, and returns the labels it replaced. What it cannot read is an error: an address that is not
// understood would be a way around the access rules for the others.
func translateRouteLabels(m *pluginv1.Manifest) (translated []string, err error) {
	for label, translate := range map[string]func(*pluginv1.Manifest, string) error{
		wire.LabelRouteAliases: translateAliases,
		wire.LabelRouteQuery:   translateParameter,
	} {
		text, given := m.Labels[label]
		if !given {
			continue
		}
		if err := translate(m, text); err != nil {
			return nil, fmt.Errorf("labels.%s: %w", label, err)
		}
		delete(m.Labels, label)
		translated = append(translated, label)
	}
	return translated, nil
}

// oldOperations names the fields by which the contract before said what its RPCs do. They are still read (operationsOf);
// the annotations of ctl-schema in the YANG modules have taken their place.
func oldOperations(m *pluginv1.Manifest) (fields []string) {
	safe := func(r *pluginv1.Rpc) bool { return r.Safe }
	limited := func(r *pluginv1.Rpc) bool { return r.Timeout != nil }
	if slices.ContainsFunc(m.Rpcs, safe) {
		fields = append(fields, "operations.safe")
	}
	if slices.ContainsFunc(m.Rpcs, limited) {
		fields = append(fields, "operations.timeouts")
	}
	return fields
}

// translateAliases reads "/other=/documented /other2=/documented2".
func translateAliases(m *pluginv1.Manifest, text string) error {
	for pair := range strings.FieldsSeq(text) {
		path, target, both := strings.Cut(pair, "=")
		r := routeAbove(m, path)
		if !both || r == nil {
			return fmt.Errorf(
				"%q is not /other=/documented with two paths below a route of the plugin",
				pair,
			)
		}
		r.Aliases = append(r.Aliases, &pluginv1.RouteAlias{
			Path:   path,
			Target: target,
		})
	}
	return nil
}

// translateParameter reads "/route parameter segment".
func translateParameter(m *pluginv1.Manifest, text string) error {
	f := strings.Fields(text)
	if len(f) != 3 || routeAbove(m, f[0]) == nil || routeAbove(m, f[0]).Path != f[0] {
		return fmt.Errorf(
			"%q is not /route parameter segment with the path of a route of the plugin",
			text,
		)
	}
	r := routeAbove(m, f[0])
	r.Parameters = append(r.Parameters, &pluginv1.RouteParameter{
		Name:    f[1],
		Segment: f[2],
	})
	return nil
}

// routeAbove is the route that a path belongs to, nil if there is none.
func routeAbove(m *pluginv1.Manifest, path string) *pluginv1.Route {
	for _, r := range m.Routes {
		if wire.Below(path, r.Path) {
			return r
		}
	}
	return nil
}
