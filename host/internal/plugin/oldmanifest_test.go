package plugin

import (
	"log/slog"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"ctl.internal/internal/wire"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// The labels of the contract before become fields of the route; what cannot be read is refused with the label.
func TestLabelsOfTheContractBefore(t *testing.T) {
	for _, tc := range []struct {
		label, text string
		want        string // a part of the error
	}{
		{wire.LabelRouteAliases, "/repoinfo/gerrit=/repoinfo/review /repoinfo/review/merged=/repoinfo/review/changes", ""},
		{wire.LabelRouteQuery, "/repoinfo project projects", ""},
		{wire.LabelRouteAliases, "/repoinfo/gerrit:/repoinfo/review", `labels.route-aliases: "/repoinfo/gerrit:/repoinfo/review" is not /other=/documented`},
		{wire.LabelRouteAliases, "/other/gerrit=/repoinfo/review", "labels.route-aliases"},
		{wire.LabelRouteQuery, "/repoinfo project", "labels.route-query"},
		{wire.LabelRouteQuery, "/repoinfo/git project projects", "labels.route-query"},
		{wire.LabelRouteQuery, "/repo project projects", "labels.route-query"},
	} {
		m := &pluginv1.Manifest{Routes: []*pluginv1.Route{{Path: "/repoinfo"}}, Labels: map[string]string{tc.label: tc.text, "kept": "x"}}
		labels, err := translateRouteLabels(m)
		if tc.want != "" {
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s %q: got %v, want %q", tc.label, tc.text, err, tc.want)
			}
			continue
		}
		r := m.Routes[0]
		if err != nil || len(labels) != 1 || labels[0] != tc.label || m.Labels[tc.label] != "" || m.Labels["kept"] != "x" {
			t.Errorf("%s %q: %v, %v, labels %v", tc.label, tc.text, labels, err, m.Labels)
		}
		want := &pluginv1.Route{Path: "/repoinfo", Parameters: []*pluginv1.RouteParameter{{Name: "project", Segment: "projects"}}}
		if tc.label == wire.LabelRouteAliases {
			want = &pluginv1.Route{Path: "/repoinfo", Aliases: []*pluginv1.RouteAlias{
				{Path: "/repoinfo/gerrit", Target: "/repoinfo/review"},
				{Path: "/repoinfo/review/merged", Target: "/repoinfo/review/changes"},
			}}
		}
		if !proto.Equal(r, want) {
			t.Errorf("%s %q became %v, want %v", tc.label, tc.text, r, want)
		}
	}
}

// A plugin whose manifest has an address that cannot be understood does not start: the access rules would not know it.
func TestAManifestWithABadAddressIsRefused(t *testing.T) {
	m := &Manager{}
	m.index.Store(&index{})
	s := &supervisor{name: "racks", m: m, log: slog.New(slog.DiscardHandler)}
	route := func(r *pluginv1.Route) *pluginv1.Manifest {
		return &pluginv1.Manifest{Name: "racks", ApiVersions: wire.APIVersions, Routes: []*pluginv1.Route{r}}
	}
	typo := route(&pluginv1.Route{Path: "/racks"})
	typo.Labels = map[string]string{wire.LabelRouteAliases: "/racks/old:/racks/new"}
	for want, mf := range map[string]*pluginv1.Manifest{
		"":                             route(&pluginv1.Route{Path: "/racks", Aliases: []*pluginv1.RouteAlias{{Path: "/racks/old", Target: "/racks/new"}}}),
		"labels.route-aliases":         typo,
		"routes[0].aliases[0].target:": route(&pluginv1.Route{Path: "/racks", Aliases: []*pluginv1.RouteAlias{{Path: "/racks/old"}}}),
		"routes[0].path:":              route(&pluginv1.Route{Path: "/racks/"}),
	} {
		_, err := s.acceptManifest(mf)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %q", mf, err, want)
		}
	}
}

// Two plugins do not serve paths of which one holds the other.
func TestPathsOfTwoPluginsDoNotOverlap(t *testing.T) {
	m := &Manager{}
	first := &supervisor{name: "racks", m: m}
	first.manifest.Store(&pluginv1.Manifest{Routes: []*pluginv1.Route{{Path: "/racks"}}})
	m.index.Store(&index{plugins: []*supervisor{first}})
	for path, refused := range map[string]bool{"/racks": true, "/racks/rows": true, "/racksite": false, "/other": false} {
		err := m.checkConflicts("rows", &pluginv1.Manifest{Routes: []*pluginv1.Route{{Path: path}}})
		if (err != nil) != refused {
			t.Errorf("%s: %v, want refused %t", path, err, refused)
		}
	}
}
