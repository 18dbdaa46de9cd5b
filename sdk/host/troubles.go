package host

import (
	"context"
	"time"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// Trouble is one thing that a plugin finds wrong. Kind and Resource identify it: while both are in the list it is the
// same trouble, and what people said about it holds.
type Trouble struct {
	Kind     string // lower-case letters, digits and hyphens, at most 64 bytes: "vlan-mismatch"
	Resource string // path of data, "/module:list=key", or words such as "router r1"
	// Concerns are further paths of data that the trouble names. Who may not read the data at one of the paths does not
	// see the trouble.
	Concerns []string
	Subject  string    // the resource as people call it; empty = Resource
	Warning  bool      // nothing fails yet
	Since    time.Time // zero = since it was reported first
	Cause    string    // at most 1 KiB are kept
	Remedy   string    // what a person does about it; at most 1 KiB are kept
	Topology string    // of the ends; empty = none
	Ends     []TroubleEnd
}

// TroubleEnd is a node of a topology, or a port of it.
type TroubleEnd struct{ Node, Port string }

// Troubles is the controller's list of what is wrong (ctl now), as far as it is of this plugin.
type Troubles struct{ rpc pluginv1.HostTroublesClient }

// replaceTime bounds a call of Replace.
const replaceTime = 10 * time.Second

// Replace replaces the whole list of this plugin on this node, at most 500 troubles, within 10 s. The list ends with the
// process. A controller that has no list answers a fault of kind Unavailable or Unsupported, which a plugin may ignore.
func (t *Troubles) Replace(ctx context.Context, all []Trouble) error {
	r := &pluginv1.ReplaceTroublesRequest{}
	for _, one := range all {
		p := &pluginv1.Trouble{
			Kind:     one.Kind,
			Resource: one.Resource,
			Concerns: one.Concerns,
			Subject:  one.Subject,
			Warning:  one.Warning,
			Cause:    one.Cause,
			Remedy:   one.Remedy,
			Topology: one.Topology,
		}
		if !one.Since.IsZero() {
			p.Since = one.Since.UnixNano()
		}
		for _, e := range one.Ends {
			p.Ends = append(p.Ends, &pluginv1.TroubleEnd{Node: e.Node, Port: e.Port})
		}
		r.Troubles = append(r.Troubles, p)
	}
	ctx, cancel := context.WithTimeout(ctx, replaceTime)
	defer cancel()
	_, err := t.rpc.Replace(ctx, r)
	return fault.FromStatus(err)
}
