package wire

import (
	"strings"
	"testing"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

func alias(path, target string) *pluginv1.RouteAlias {
	return &pluginv1.RouteAlias{Path: path, Target: target}
}

// Each fault in the addresses of a manifest is named by its field.
func TestCheckRoutes(t *testing.T) {
	route := func(aliases ...*pluginv1.RouteAlias) []*pluginv1.Route {
		return []*pluginv1.Route{{Path: "/repoinfo", Aliases: aliases}}
	}
	parameters := func(list ...*pluginv1.RouteParameter) []*pluginv1.Route {
		return []*pluginv1.Route{{Path: "/repoinfo", Parameters: list}}
	}
	for _, tc := range []struct {
		name   string
		routes []*pluginv1.Route
		want   string // a part of the error; empty: none
	}{
		{"none", nil, ""},
		{"two aliases of which one is below the target of the other", route(alias("/repoinfo/gerrit", "/repoinfo/review"), alias("/repoinfo/review/merged", "/repoinfo/review/changes")), ""},
		{"parameter", parameters(&pluginv1.RouteParameter{Name: "project", Segment: "projects"}), ""},
		{"colon for the equals sign", route(alias("/repoinfo/gerrit:/repoinfo/review", "")), `routes[0].aliases[0].path: "/repoinfo/gerrit:/repoinfo/review": segment "gerrit:"`},
		{"no target", route(alias("/repoinfo/gerrit", "")), "routes[0].aliases[0].target: is missing"},
		{"target of others", route(alias("/repoinfo/gerrit", "/auth")), "below the route's own path /repoinfo"},
		{"alias of others", route(alias("/auth/v1", "/repoinfo/review")), "below the route's own path /repoinfo"},
		{"similar beginning", route(alias("/repoinfox/a", "/repoinfo/review")), "below the route's own path /repoinfo"},
		{"alias of itself", route(alias("/repoinfo/a", "/repoinfo/a")), "the same path"},
		{"endless", route(alias("/repoinfo/a", "/repoinfo/a/b")), "the same path or one holds the other"},
		{"two targets", route(alias("/repoinfo/a", "/repoinfo/b"), alias("/repoinfo/a", "/repoinfo/c")), "aliases[1].path: \"/repoinfo/a\" is an alias already"},
		{"circle", route(alias("/repoinfo/a", "/repoinfo/b"), alias("/repoinfo/b", "/repoinfo/a")), "is the target of another alias"},
		{"encoded", route(alias("/repoinfo/%67errit", "/repoinfo/review")), "letters, digits and"},
		{"dot segment", route(alias("/repoinfo/../auth", "/repoinfo/review")), "dot segment"},
		{"trailing slash", route(alias("/repoinfo/gerrit/", "/repoinfo/review")), "empty segment"},
		{"key", route(alias("/repoinfo/a=b", "/repoinfo/review")), "letters, digits and"},
		{"no path", []*pluginv1.Route{{}}, "routes[0].path: is missing"},
		{"root", []*pluginv1.Route{{Path: "/"}}, "routes[0].path: \"/\" has an empty segment"},
		{"relative", []*pluginv1.Route{{Path: "racks"}}, "must begin with /"},
		{"one route below another of the same plugin", []*pluginv1.Route{{Path: "/racks"}, {Path: "/racks/rows"}}, ""},
		{"characters that need no encoding", []*pluginv1.Route{{Path: "/racks:v1/(all)"}}, ""},
		{"encoded route", []*pluginv1.Route{{Path: "/rack%73"}}, "letters, digits and"},
		{"parameter without a name", parameters(&pluginv1.RouteParameter{Segment: "projects"}), "routes[0].parameters[0].name"},
		{"parameter with two segments", parameters(&pluginv1.RouteParameter{Name: "project", Segment: "a/b"}), "routes[0].parameters[0].segment"},
		{"parameter with a blank", parameters(&pluginv1.RouteParameter{Name: "pro ject", Segment: "a"}), "routes[0].parameters[0].name"},
		{"parameter twice", parameters(&pluginv1.RouteParameter{Name: "p", Segment: "a"}, &pluginv1.RouteParameter{Name: "p", Segment: "b"}), "routes[0].parameters[1]"},
	} {
		err := CheckRoutes(tc.routes)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", tc.name, err, tc.want)
		}
	}
}
