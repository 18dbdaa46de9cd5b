package shell

import (
	"context"
	"time"

	"ctl.internal/plugins/openflow/discovery"
	"ctl.internal/sdk/topology"
)

// Observed is what the process that acts on the switches knows of one, as all nodes read
// it.
type Observed struct {
	Source   string          `json:"source"` // node that has the session
	Epoch    uint64          `json:"epoch"`
	At       time.Time       `json:"at"`
	Sum      string          `json:"sum"` // of what counts as a change
	Node     topology.Node   `json:"node"`
	Links    []topology.Link `json:"links,omitempty"` // that begin there
	Datapath uint64          `json:"datapath"`
	Remote   string          `json:"remote"`
	Role     uint32          `json:"role"`
	Ports    int             `json:"ports"`
	Up       int             `json:"up"`
	Software string          `json:"software,omitempty"`
	Since    time.Time       `json:"since"`
	Problem  string          `json:"problem,omitempty"`
}

// NewObserved makes the record of a switch.
func NewObserved(w discovery.Switch, node topology.Node, links []topology.Link) Observed {
	return Observed{Node: node, Links: links, Datapath: w.Datapath, Remote: w.Remote, Role: w.Role, Ports: w.Ports, Up: w.Up,
		Software: w.Description.Software, Since: w.Since, Problem: w.Problem}
}

// elsewhere are the switches that this process has no session with.
func (s *Shell) elsewhere(ctx context.Context) (out []Observed, err error) {
	here := map[uint64]bool{}
	err = s.Ask(ctx, func(c *discovery.Core) {
		for _, w := range c.Switches() {
			here[w.Datapath] = true
		}
	})
	for _, o := range s.Observed() {
		if !here[o.Datapath] {
			out = append(out, o)
		}
	}
	return out, err
}

func age(t time.Time) string { return time.Since(t).Round(time.Second).String() }
