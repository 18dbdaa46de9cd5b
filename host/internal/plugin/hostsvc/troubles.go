package hostsvc

import (
	"context"
	"regexp"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// The bounds of the list of a plugin.
const (
	maxTroubles = 500
	maxResource = 1024 // bytes
	maxConcerns = 16
	maxEnds     = 2
)

type troublesServer struct {
	pluginv1.UnimplementedHostTroublesServer
	s *Server
}

// Replace takes the list of the plugin.
func (t *troublesServer) Replace(
	ctx context.Context,
	r *pluginv1.ReplaceTroublesRequest,
) (*pluginv1.ReplaceTroublesResponse, error) {
	if len(r.Troubles) > maxTroubles {
		return nil, fault.New(
			fault.TooBig,
			"plugin %s reports %d troubles; at most %d are taken",
			t.s.plugin,
			len(r.Troubles),
			maxTroubles,
		)
	}
	kind := regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)
	for _, one := range r.Troubles {
		switch {
		case !kind.MatchString(one.Kind):
			return nil, fault.New(
				fault.Invalid,
				"the kind %q of a trouble is not of lower-case letters, digits and hyphens, 64 at most",
				one.Kind,
			)
		case one.Resource == "" || len(one.Resource) > maxResource:
			return nil, fault.New(
				fault.Invalid,
				"the resource of a trouble of kind %s has %d bytes; 1 to %d are allowed",
				one.Kind,
				len(one.Resource),
				maxResource,
			)
		case len(one.Concerns) > maxConcerns || len(one.Ends) > maxEnds:
			return nil, fault.New(
				fault.TooBig,
				"the trouble %s of %s concerns %d resources and has %d ends; at most %d and %d are taken",
				one.Kind,
				one.Resource,
				len(one.Concerns),
				len(one.Ends),
				maxConcerns,
				maxEnds,
			)
		}
	}
	t.s.mu.Lock()
	t.s.reporter = tokenOf(ctx)
	t.s.mu.Unlock()
	return &pluginv1.ReplaceTroublesResponse{}, t.s.services.Troubles(ctx, t.s.plugin, r.Troubles)
}
