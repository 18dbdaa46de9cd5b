package server

import (
	"strings"
	"time"

	"ctl.internal/host/internal/feature"
	"ctl.internal/host/internal/web"
	"ctl.internal/host/internal/web/openapi"
	"ctl.internal/sdk/yang"
)

// webOptions is what the pages show.
func (s *Server) webOptions() web.Options {
	version, _, _ := strings.Cut(Version(), " ")
	return web.Options{
		Status: func() web.Status { return s.status(version) },
		Schema: func() *yang.Set { return s.catalog.Installed().Schema },
		Shown: func(module string) bool {
			m := s.catalog.Installed().Schema.Module(module)
			return m != nil && s.features.Active().UI(m.Source, module)
		},
		Streams: func() []openapi.Stream {
			var out []openapi.Stream
			for _, st := range s.catalog.Installed().Streams {
				out = append(out, openapi.Stream(st))
			}
			return out
		},
		Version: version,
	}
}

func (s *Server) status(version string) web.Status {
	st := web.Status{Version: version, Started: s.began.UTC().Format(time.RFC3339), Plugins: []web.Plugin{}, Features: []web.Feature{}}
	for _, p := range s.plugins.List() {
		st.Plugins = append(st.Plugins, web.Plugin{Name: p.Name, Version: p.Version, State: p.State.String(), Reason: p.Reason,
			PID: p.PID, Restarts: p.Restarts, Calls: p.Calls, Serving: p.State.Serving()})
	}
	for _, f := range s.features.List() {
		if f.State != feature.Uninstalled && !f.Hidden {
			st.Features = append(st.Features, web.Feature{Name: f.Name, Version: f.Version, Description: f.Description, Required: f.Required})
		}
	}
	return st
}
