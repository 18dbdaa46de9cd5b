package hostsvc

import (
	"context"
	"regexp"
	"slices"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// The bounds of the list of a plugin.
const (
	maxTroubles = 500
	maxResource = 1024 // bytes, also of each further path, of the topology and of each node and port
	maxConcerns = 16
	maxEnds     = 2
)

var kindPattern = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)

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
	for _, one := range r.Troubles {
		if err := checkTrouble(one); err != nil {
			return nil, err
		}
	}
	t.s.reporting.Lock()
	defer t.s.reporting.Unlock()
	if !t.s.becomeReporter(tokenOf(ctx)) {
		return &pluginv1.ReplaceTroublesResponse{}, nil // the list of this process is over
	}
	return &pluginv1.ReplaceTroublesResponse{}, t.s.services.Troubles(ctx, t.s.plugin, r.Troubles)
}

// checkTrouble refuses a trouble out of bounds.
func checkTrouble(one *pluginv1.Trouble) error {
	switch {
	case !kindPattern.MatchString(one.Kind):
		return fault.New(
			fault.Invalid,
			"the kind %.100q of a trouble is not of lower-case letters, digits and hyphens, 64 at most",
			one.Kind,
		)
	case one.Resource == "" || len(one.Resource) > maxResource:
		return fault.New(
			fault.Invalid,
			"the resource of a trouble of kind %s has %d bytes; 1 to %d are allowed",
			one.Kind,
			len(one.Resource),
			maxResource,
		)
	case len(one.Concerns) > maxConcerns || len(one.Ends) > maxEnds:
		return fault.New(
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
	names := append([]string{one.Topology}, one.Concerns...)
	for _, e := range one.Ends {
		names = append(names, e.GetNode(), e.GetPort())
	}
	for _, name := range names {
		if len(name) > maxResource {
			return fault.New(
				fault.TooBig,
				"the trouble %s of %s names something with %d bytes; at most %d are taken",
				one.Kind,
				one.Resource,
				len(name),
				maxResource,
			)
		}
	}
	return nil
}

// becomeReporter notes which process reports; false when it has been shut out, or when a newer one has reported.
func (s *Server) becomeReporter(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := func(token string) int {
		return slices.IndexFunc(s.tokens, func(i issued) bool { return string(i.token) == token })
	}
	this := of(token)
	if this < 0 || this < of(s.reporter) {
		return false
	}
	s.reporter = token
	return true
}
