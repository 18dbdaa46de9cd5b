package cluster

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/lease"
	"ctl.internal/internal/wire/frames"
	"ctl.internal/sdk/fault"
)

// askTime bounds a question to another node.
const askTime = 2 * time.Second

// Running is what a node reports of itself.
type Running struct {
	Features []Part `json:"features"`
	Plugins  []Part `json:"plugins"`
}

// Part is a feature or plugin on a node.
type Part struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	State   string `json:"state"`
	Reason  string `json:"reason,omitempty"` // why it is not as it should be
}

// Member is a node that is alive.
type Member struct {
	lease.Node
	Self    bool     `json:"self"`
	Roles   []string `json:"roles"`
	Live    *Live    `json:"live,omitempty"` // nil: it did not answer
	Why     string   `json:"why,omitempty"`  // it did not answer
	Running Running  `json:"running"`
}

// Status is the cluster as this node sees it.
type Status struct {
	Revision datastore.Revision `json:"revision"` // newest that is known to any node
	Members  []Member           `json:"members"`
	Roles    []lease.Role       `json:"roles"`
}

// Status asks every node how it is.
func (n *Node) Status(ctx context.Context) Status {
	out := Status{Roles: n.o.Roles.Roles()}
	reports := n.o.Roles.Reports()
	for _, node := range n.o.Roles.Members() {
		m := Member{
			Node:  node,
			Self:  node.ID == n.o.Identity.ID,
			Roles: []string{},
		}
		for _, r := range out.Roles {
			if r.Node == node.ID {
				m.Roles = append(m.Roles, r.Name)
			}
		}
		_ = json.Unmarshal(reports[node.ID], &m.Running) // of another version: nothing is known
		out.Members = append(out.Members, m)
	}
	var g sync.WaitGroup
	for i := range out.Members {
		g.Go(func() { out.Members[i].askStatus(ctx, n) })
	}
	g.Wait()
	for _, m := range out.Members {
		if m.Live != nil {
			out.Revision = max(out.Revision, datastore.Revision(m.Live.Revision))
		}
	}
	return out
}

func (m *Member) askStatus(ctx context.Context, n *Node) {
	if m.Self {
		m.Live = n.liveStatus()
		return
	}
	var live Live
	began := time.Now()
	if err := n.askNode(ctx, m.ID, methodStatus, nil, &live); err != nil {
		m.Why = fault.FromStatus(err).Error()
		return
	}
	live.Ahead = clockAhead(live.ClockMS, began, time.Now())
	m.Live = &live
}

// clockAhead is how far a clock that was read between two moments is ahead of ours, as far as
// the way of the answer lets it be known.
func clockAhead(clockMS int64, began, ended time.Time) time.Duration {
	there := time.UnixMilli(clockMS)
	switch {
	case clockMS == 0:
		return 0
	case there.Before(began.Add(-time.Millisecond)):
		return there.Sub(began).Round(time.Millisecond)
	case there.After(ended.Add(time.Millisecond)):
		return there.Sub(ended).Round(time.Millisecond)
	}
	return 0
}

// liveStatus is what this node says of itself.
func (n *Node) liveStatus() *Live {
	age, _ := n.o.Store.Local(func(datastore.Snapshot) error { return nil })
	return &Live{
		Revision: uint64(n.o.Store.Revision()),
		AgeMS:    age.Milliseconds(),
		LeaseMS:  n.o.Roles.Valid().Milliseconds(),
		ClockMS:  time.Now().UnixMilli(),
	}
}

// askNode calls another node itself.
func (n *Node) askNode(ctx context.Context, id, method string, request, answer any) error {
	limit := askTime
	if method == methodStepDown {
		limit += stepDownTime
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c, err := n.dialNode(ctx, id)
	if err != nil {
		return err
	}
	text, err := json.Marshal(request)
	if err != nil {
		return err
	}
	var out frames.Message
	if err := c.Invoke(
		ctx,
		method,
		&frames.Message{Body: text},
		&out,
		grpc.ForceCodecV2(frames.Codec()),
	); err != nil {
		return fault.FromStatus(err)
	}
	return json.Unmarshal(out.Body, answer)
}

// stepDownTime bounds how long the holders of roles may take to stop.
const stepDownTime = 10 * time.Second

// StepDown has a node give up roles, all of them when none is named, and leave them to
// others for a while. An empty node is the one that holds the role, or this one.
func (n *Node) StepDown(
	ctx context.Context,
	node string,
	roles []string,
	pause time.Duration,
	by string,
) ([]string, error) {
	if node == "" && len(roles) > 0 {
		r, ok := n.o.Roles.Holder(roles[0])
		if !ok && n.o.Roles.Clustered() {
			return nil, fault.New(
				fault.NotFound,
				"the role %q has no holder: cluster:status lists the roles that are held",
				roles[0],
			)
		}
		for _, name := range roles[1:] {
			if other, _ := n.o.Roles.Holder(name); other.Node != r.Node {
				return nil, fault.New(
					fault.Invalid,
					"the roles %s and %s are not held by the same node: name roles of one node",
					roles[0],
					name,
				)
			}
		}
		node = r.Node
	}
	request := stepDown{
		Roles:   roles,
		Seconds: int(pause.Seconds()),
		By:      by,
	}
	if node == "" || node == n.o.Identity.ID {
		return n.stepDownHere(ctx, request), nil
	}
	if _, ok := n.o.Roles.Member(node); !ok {
		return nil, fault.New(
			fault.NotFound,
			"there is no node %q that is alive: cluster:members lists them",
			node,
		)
	}
	var given []string
	err := n.askNode(ctx, node, methodStepDown, request, &given)
	return given, err
}

func (n *Node) stepDownHere(ctx context.Context, r stepDown) []string {
	ctx, cancel := context.WithTimeout(ctx, stepDownTime)
	defer cancel()
	n.o.Log.Info("this node steps down", "roles", r.Roles, "seconds", r.Seconds, "by", r.By)
	given := n.o.Roles.StepDown(
		ctx,
		r.Roles,
		time.Duration(min(max(r.Seconds, 0), 3600))*time.Second,
	)
	slices.Sort(given)
	return given
}
