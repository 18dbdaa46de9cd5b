package wire

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// What a segment may be: characters that every reader of an address takes as they stand. Those of an alias are
// unreserved (RFC 3986 section 2.3); the path of a route may have all that need no encoding, as before there were aliases.
var (
	routeSegment = regexp.MustCompile(`^[A-Za-z0-9._~@:!$&'()*+-]+$`)
	aliasSegment = regexp.MustCompile(`^[A-Za-z0-9._~-]+$`)
)

// queryName is what the name of a query parameter may be.
var queryName = regexp.MustCompile(`^[A-Za-z0-9._~-]+$`)

// Labels in which manifests of the contract before had the other addresses of a route. The host translates them.
const (
	LabelRouteAliases = "route-aliases" // "/other=/documented", several with blanks between them
	LabelRouteQuery   = "route-query"   // "/route parameter segment"
)

// CheckRoutes refuses routes of a manifest whose paths can be read in two ways, that collide with each other, or whose
// aliases lead nowhere: access rules are matched against all addresses of a thing, so an address that is not understood
// would be a way around them. Each fault names its field.
func CheckRoutes(routes []*pluginv1.Route) error {
	var faults []error
	for i, r := range routes {
		field := fmt.Sprintf("routes[%d]", i)
		if err := checkPath(field+".path", r.GetPath(), routeSegment); err != nil {
			faults = append(faults, err)
			continue
		}
		faults = append(faults, checkAliases(field, r)...)
		faults = append(faults, checkParameters(field, r)...)
	}
	return errors.Join(faults...)
}

// Below reports whether a path is another one or lies below it.
func Below(path, parent string) bool {
	rest, ok := strings.CutPrefix(path, parent)
	return ok && (rest == "" || rest[0] == '/')
}

func checkPath(field, path string, form *regexp.Regexp) error {
	if path == "" {
		return fmt.Errorf("%s: is missing", field)
	}
	below, ok := strings.CutPrefix(path, "/")
	if !ok {
		return fmt.Errorf("%s: %q must begin with /", field, path)
	}
	for segment := range strings.SplitSeq(below, "/") {
		switch {
		case segment == "":
			return fmt.Errorf(
				"%s: %q has an empty segment: write a path such as /racks, without a slash at its end",
				field,
				path,
			)
		case segment == "." || segment == "..":
			return fmt.Errorf("%s: %q has a dot segment: write the path that is meant", field, path)
		case !form.MatchString(segment):
			return fmt.Errorf(
				"%s: %q: segment %q may have letters, digits and - . _ ~ only",
				field,
				path,
				segment,
			)
		}
	}
	return nil
}

func checkAliases(field string, r *pluginv1.Route) []error {
	var faults []error
	targets := map[string]bool{}
	for _, a := range r.Aliases {
		targets[a.GetTarget()] = true
	}
	seen := map[string]int{}
	for i, a := range r.Aliases {
		at := fmt.Sprintf("%s.aliases[%d]", field, i)
		err := cmp.Or(
			checkPath(at+".path", a.GetPath(), aliasSegment),
			checkPath(at+".target", a.GetTarget(), aliasSegment),
		)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		before, twice := seen[a.Path]
		switch {
		case !isBelowPath(a.Path, r.Path), !isBelowPath(a.Target, r.Path):
			faults = append(
				faults,
				fmt.Errorf(
					"%s: %q and %q must be below the route's own path %s: the rest is not this plugin's",
					at,
					a.Path,
					a.Target,
					r.Path,
				),
			)
		case Below(a.Path, a.Target), Below(a.Target, a.Path):
			faults = append(
				faults,
				fmt.Errorf(
					"%s: %q and %q are the same path or one holds the other, so the alias has no end",
					at,
					a.Path,
					a.Target,
				),
			)
		case targets[a.Path]:
			faults = append(
				faults,
				fmt.Errorf(
					"%s.path: %q is the target of another alias: name the path where the thing is documented as the target of both",
					at,
					a.Path,
				),
			)
		case twice:
			faults = append(
				faults,
				fmt.Errorf(
					"%s.path: %q is an alias already, in aliases[%d]: one path has one target",
					at,
					a.Path,
					before,
				),
			)
		}
		seen[a.Path] = i
	}
	return faults
}

// isBelowPath reports whether a path lies below another one and is not that one itself.
func isBelowPath(path, parent string) bool {
	return path != parent && Below(path, parent)
}

func checkParameters(field string, r *pluginv1.Route) []error {
	var faults []error
	seen := map[string]bool{}
	for i, p := range r.Parameters {
		at := fmt.Sprintf("%s.parameters[%d]", field, i)
		switch {
		case !queryName.MatchString(p.GetName()):
			faults = append(
				faults,
				fmt.Errorf(
					"%s.name: %q must be the name of a query parameter: letters, digits and - . _ ~",
					at,
					p.GetName(),
				),
			)
		case checkPath("", "/"+p.GetSegment(), aliasSegment) != nil || strings.Contains(p.GetSegment(), "/"):
			faults = append(
				faults,
				fmt.Errorf(
					"%s.segment: %q must be one segment of a path: letters, digits and - . _ ~",
					at,
					p.GetSegment(),
				),
			)
		case seen["name "+p.Name], seen["segment "+p.Segment]:
			faults = append(
				faults,
				fmt.Errorf(
					"%s: the parameter %q or the segment %q is in another entry already",
					at,
					p.Name,
					p.Segment,
				),
			)
		}
		seen["name "+p.GetName()], seen["segment "+p.GetSegment()] = true, true
	}
	return faults
}
