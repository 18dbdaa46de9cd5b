package rig

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"ctl.internal/bench/load"
)

// Side is one of those that are compared.
type Side struct {
	Name  string
	Run   func(context.Context, time.Duration) (load.Result, error)
	Costs []Cost      // what is counted besides the rate
	Last  *Controller // whose CPU profile of the last round Comparison.Profile keeps; nil: none

	got []sample
}

// Cost is the processor time of a process, or of all below it.
type Cost struct {
	Name string
	Used func() time.Duration
}

type sample struct {
	load.Result
	cpu []time.Duration // of a request, by Cost
}

// Comparison is how sides are compared.
type Comparison struct {
	Rounds   int
	Duration time.Duration
	Profile  func(*Side) string // the file of a profile; nil or "": none
}

// Run loads the sides in turn, round by round, so that all see the same machine, and every other round from the last
// to the first, for what a side leaves to be done slows the next. The first round of each, in which connections are
// made and heaps grow, does not count.
func (c Comparison) Run(ctx context.Context, sides ...*Side) error {
	order := slices.Clone(sides)
	for round := range c.Rounds + 1 {
		slices.Reverse(order)
		for _, s := range order {
			d, wait := c.Duration, func() error { return nil }
			if round == 0 {
				d /= 4
			}
			if round == c.Rounds && s.Last != nil && c.Profile != nil {
				if file := c.Profile(s); file != "" {
					wait = s.Last.Profile(ctx, file, d)
				}
			}
			before := s.usedTimes()
			r, err := s.Run(ctx, d)
			after := s.usedTimes()
			if err := errors.Join(err, wait()); err != nil {
				return fmt.Errorf("%s: %w", s.Name, err)
			}
			if r.Failed > 0 {
				return fmt.Errorf("%s: %d of %d requests failed", s.Name, r.Failed, r.Requests)
			}
			for i := range after {
				after[i] = (after[i] - before[i]) / time.Duration(r.Requests)
			}
			if round > 0 {
				s.got = append(s.got, sample{r, after})
			}
		}
	}
	return nil
}

func (s *Side) usedTimes() (out []time.Duration) {
	for _, c := range s.Costs {
		out = append(out, c.Used())
	}
	return out
}

// Median is the result of the round in the middle, and the costs of one request in it.
func (s *Side) Median() (load.Result, []time.Duration) {
	slices.SortFunc(s.got, func(a, b sample) int { return int(a.Rate() - b.Rate()) })
	m := s.got[len(s.got)/2]
	return m.Result, m.cpu
}

// Against is the ratio of the rate to that of a peer, and of all costs.
func (s *Side) Against(peer *Side) (rate, cost float64) {
	a, mine := s.Median()
	b, its := peer.Median()
	return a.Rate() / b.Rate(), totalDuration(its).Seconds() / totalDuration(mine).Seconds()
}

func totalDuration(costs []time.Duration) (sum time.Duration) {
	for _, d := range costs {
		sum += d
	}
	return sum
}

// Describe is the rate, the times and the costs of a request.
func (s *Side) Describe() string {
	m, cpu := s.Median()
	text := []string{fmt.Sprintf("%.0f/s", m.Rate()), fmt.Sprint("p50 ", m.P50.Round(10*time.Microsecond)), fmt.Sprint("p99 ", m.P99.Round(10*time.Microsecond))}
	for i, c := range s.Costs {
		text = append(text, fmt.Sprint(c.Name, " ", cpu[i].Round(100*time.Nanosecond)))
	}
	return strings.Join(text, ", ")
}

// Best keeps the least of what several rounds took, by the clock and of this process's processor time.
type Best struct{ Clock, CPU time.Duration }

// Never is a Best of no round.
func Never() Best { return Best{time.Hour, time.Hour} }

// Round runs f and keeps what it took, if that is less.
func (b *Best) Round(f func() error) error {
	start, used := time.Now(), Self()
	err := f()
	b.Clock, b.CPU = min(b.Clock, time.Since(start)), min(b.CPU, Self()-used)
	return err
}

// Ratio of two times.
func Ratio(a, b time.Duration) float64 {
	return a.Seconds() / b.Seconds()
}

// Row prints a line of a table.
func Row(name string, d time.Duration, note string) {
	fmt.Printf("%-26s %10.1f ms   %s\n", name, float64(d.Microseconds())/1000, note)
}
