package service

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"ctl.internal/internal/bier"
	"ctl.internal/internal/bier/bierplugin"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/operations"
)

// maxStanding bounds the proactive echo requests.
const maxStanding = 32

// standing are the proactive echo requests of this process, one of a mode for a channel.
type standing struct {
	turns *semaphore.Weighted // apart from echo requests on demand, which are not made to wait for them
	mu    sync.Mutex
	all   map[string]*standingEcho
}

func newStanding() *standing {
	return &standing{
		turns: semaphore.NewWeighted(maxEchoes),
		all:   map[string]*standingEcho{},
	}
}

// standingEcho is a proactive echo request.
type standingEcho struct {
	echoRequest
	cancel context.CancelFunc

	mu     sync.Mutex
	last   time.Time // when the last turn ended; zero: none did
	result string
}

func (x *echoRequest) key() string {
	return bier.ChannelKey(x.topology, x.channel) + " " + x.mode
}

// beginStanding begins a proactive echo request. One of the same mode for the same channel ends.
func (s *Service) beginStanding(r echoRequest) error {
	ctx, cancel := context.WithCancel(s.life)
	x := &standingEcho{echoRequest: r, cancel: cancel}
	s.standing.mu.Lock()
	defer s.standing.mu.Unlock()
	before := s.standing.all[r.key()]
	if before == nil && len(s.standing.all) == maxStanding {
		cancel()
		return fault.New(
			fault.Invalid,
			"%d proactive echo requests are under way: end one with stop-echo-request",
			maxStanding,
		)
	}
	if before != nil {
		before.cancel()
	}
	s.standing.all[r.key()] = x
	s.group.Go(func() {
		defer s.forgetStanding(x)
		s.repeatEcho(ctx, x)
	})
	return nil
}

// forgetStanding removes a proactive echo request that has ended, if it was not replaced.
func (s *Service) forgetStanding(x *standingEcho) {
	x.cancel()
	s.standing.mu.Lock()
	defer s.standing.mu.Unlock()
	if s.standing.all[x.key()] == x {
		delete(s.standing.all, x.key())
	}
}

// repeatEcho has its turns until ctx ends, or the channel has none of the targets any more.
func (s *Service) repeatEcho(ctx context.Context, x *standingEcho) {
	turns := time.NewTicker(x.every)
	defer turns.Stop()
	for s.repeatOnce(ctx, x) {
		select {
		case <-ctx.Done():
			return
		case <-turns.C:
		}
	}
}

// repeatOnce is one turn; false: it was the last.
func (s *Service) repeatOnce(ctx context.Context, x *standingEcho) (more bool) {
	if s.standing.turns.Acquire(ctx, 1) != nil {
		return false
	}
	defer s.standing.turns.Release(1)
	t, c, err := s.findChannel(s.data.store.Now(), x.topology, x.channel)
	if err != nil { // it is not deployed any more
		return false
	}
	now := x.echoRequest
	now.targets = slices.DeleteFunc(slices.Clone(x.targets), func(node string) bool {
		return c.FindEgress(node) == nil
	})
	if len(now.targets) == 0 {
		return false
	}
	reply := s.echo(ctx, t, c, now)
	if ctx.Err() != nil {
		return false
	}
	x.note(reply.summary())
	s.replies.Publish(reply)
	return true
}

func (x *standingEcho) note(result string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.last, x.result = time.Now(), result
}

// latest is what came of the last turn.
func (x *standingEcho) latest() (at time.Time, result string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.last, x.result
}

// list are the proactive echo requests, in the order of their channels.
func (s *standing) list() (out []*standingEcho) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.all {
		out = append(out, x)
	}
	slices.SortFunc(out, func(a, b *standingEcho) int { return cmp.Compare(a.key(), b.key()) })
	return out
}

// stopEchoIn is the input of stop-echo-request.
type stopEchoIn struct {
	Topology string `json:"topology-id"`
	Channel  string `json:"channel-name"`
}

// stopEcho ends the proactive echo requests of a channel.
func (s *Service) stopEcho(_ context.Context, in stopEchoIn) error {
	found := false
	for _, x := range s.standing.list() {
		if x.channel == in.Channel && x.topology == in.Topology {
			s.forgetStanding(x)
			found = true
		}
	}
	if !found {
		return noStanding(in.Channel)
	}
	return nil
}

func noStanding(channel string) error {
	return fault.New(
		fault.NotFound,
		"channel %s has no proactive echo request at this controller",
		channel,
	)
}

// stopStanding is the command bier:echo-stop. Without a topology it is the only one with requests of the channel.
func (s *Service) stopStanding(ctx context.Context, in *commands.Invocation) error {
	q := stopEchoIn{
		Topology: in.Option("topology"),
		Channel:  in.Arg("channel"),
	}
	for _, x := range s.standing.list() {
		if in.Option("topology") != "" || x.channel != q.Channel || x.topology == q.Topology {
			continue
		}
		if q.Topology != "" {
			return fault.New(
				fault.Invalid,
				"topologies %s and %s have a proactive echo request of a channel %s each: choose one with --topology",
				q.Topology,
				x.topology,
				q.Channel,
			)
		}
		q.Topology = x.topology
	}
	return s.stopEcho(ctx, q)
}

// completeStanding completes names of channels with proactive echo requests.
func (s *Service) completeStanding(_ context.Context, prefix string) []string {
	return bierplugin.Complete(func(yield func(string) bool) {
		for _, x := range s.standing.list() {
			if !yield(x.channel) {
				return
			}
		}
	}, prefix)
}

// standingOut is the output of get-echo-requests.
type standingOut struct {
	Requests []standingRow `json:"echo-request,omitempty"`
}

type standingRow struct {
	Topology string    `json:"topology-id"`
	Channel  string    `json:"channel-name"`
	Mode     string    `json:"mode-type"`
	Interval uint32    `json:"interval"` // seconds
	Targets  []string  `json:"node-id"`
	Last     time.Time `json:"last,omitzero"`
	Result   string    `json:"result,omitempty"`
}

// listStanding serves get-echo-requests.
func (s *Service) listStanding(context.Context, operations.None) (*standingOut, error) {
	out := &standingOut{}
	for _, x := range s.standing.list() {
		at, result := x.latest()
		out.Requests = append(out.Requests, standingRow{
			Topology: x.topology,
			Channel:  x.channel,
			Mode:     x.mode,
			Interval: uint32(x.every / time.Second),
			Targets:  x.targets,
			Last:     at.UTC().Truncate(time.Second),
			Result:   result,
		})
	}
	return out, nil
}
