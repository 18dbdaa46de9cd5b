package service

import (
	"context"
	"io"
	"strings"
	"testing"

	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/topology"
)

// fakeSource says some topologies, and whether these are all.
type fakeSource struct {
	synced bool
	err    error
}

func (s fakeSource) Watch(
	_ context.Context,
	_ []string,
	f func(topology.Change) error,
	synced func(),
) error {
	if err := f(topology.Change{TopologyID: "t", Snapshot: true}); err != nil {
		return err
	}
	if s.synced {
		synced()
	}
	return s.err
}

func TestSnapshotOfASource(t *testing.T) {
	for name, c := range map[string]struct {
		source fakeSource
		kind   fault.Kind
	}{
		"all of it":            {fakeSource{true, context.Canceled}, -1},
		"it ends":              {fakeSource{false, nil}, fault.Unavailable},
		"it ends its stream":   {fakeSource{false, fault.FromStatus(io.EOF)}, fault.Unavailable},
		"it refuses":           {fakeSource{false, fault.New(fault.Denied, "no")}, fault.Denied},
		"it is not there, yet": {fakeSource{false, fault.New(fault.Timeout, "late")}, fault.Timeout},
	} {
		seen, err := readSnapshot(t.Context(), c.source, "")
		if c.kind < 0 && (err != nil || len(seen) != 1) || c.kind >= 0 && (err == nil || fault.KindOf(err) != c.kind) {
			t.Errorf("%s: %v, %v", name, seen, err)
		}
	}
}

// Sources are asked side by side, and what one does not say fails no comparison with the topology of another.
func TestSourcesAreAskedSideBySide(t *testing.T) {
	answered := make(chan bool)
	snapshot := func(_ context.Context, provider, id string) (map[string]topology.Topology, error) {
		if provider == "first" {
			<-answered // it waits for the other one
			return nil, fault.New(fault.Timeout, "it does not answer")
		}
		answered <- true
		if id == "nowhere" {
			return nil, nil
		}
		return map[string]topology.Topology{"t": {ID: "t", Nodes: map[string]topology.Node{"n": {ID: "n"}}}}, nil
	}
	providers := []string{"first", "second"}
	found, err := gather(t.Context(), "t", providers, snapshot)
	if err != nil || len(found.Nodes) != 1 {
		t.Errorf("the topology of one source: %v, %v", found, err)
	}
	for _, id := range []string{"", "nowhere"} {
		if _, err := gather(t.Context(), id, providers, snapshot); fault.KindOf(err) != fault.Timeout || !strings.Contains(err.Error(), "the source first") {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// Waiting goes on while a source does not answer, and ends with any other error or when the time is over.
func TestWaiting(t *testing.T) {
	unavailable, late, wrong := fault.New(fault.Unavailable, "starting"), fault.New(fault.Timeout, "late"), fault.New(fault.NotFound, "none")
	for name, c := range map[string]struct {
		answers []any
		tries   int // before the time is over
		want    any
	}{
		"it becomes right":          {[]any{unavailable, &checkOutput{}, late, &checkOutput{Correct: true}}, 9, true},
		"it stays wrong":            {[]any{unavailable, &checkOutput{}}, 2, false},
		"a source does not start":   {[]any{&checkOutput{}, unavailable}, 2, unavailable},
		"a topology that is not":    {[]any{wrong}, 9, wrong},
		"without --wait, one error": {[]any{late}, 1, late},
	} {
		i := 0
		var said []string
		out, err := waiter{
			compare: func() (*checkOutput, error) {
				i++
				if err, failed := c.answers[i-1].(error); failed {
					return nil, err
				}
				return c.answers[i-1].(*checkOutput), nil
			},
			over:     func() bool { return i >= c.tries },
			progress: func(p commands.Progress) { said = append(said, p.Text) },
			pause:    func() {},
		}.untilCorrect(t.Context())
		var got any = err
		if err == nil {
			got = out.Correct
		}
		if got != c.want || i != len(c.answers) || len(said) != i-1 {
			t.Errorf("%s: %v after %d of %d, said %q", name, got, i, len(c.answers), said)
		}
	}
}
