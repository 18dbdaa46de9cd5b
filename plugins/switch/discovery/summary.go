package discovery

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Summary is the result of a discovery in numbers.
type Summary struct {
	Asked      int           `json:"switches-asked"`
	Answered   int           `json:"switches-answered"`
	Switches   int           `json:"switches"` // known, those with old data included
	Ports      int           `json:"ports"`
	Links      int           `json:"links"` // between switches of the list
	OneEnded   int           `json:"links-told-by-one-end"`
	Outside    int           `json:"links-to-other-devices"`
	Unresolved int           `json:"neighbours-not-placed"`
	Took       time.Duration `json:"-"`
	Seconds    float64       `json:"seconds"`
	Failures   []Failure     `json:"failures"`
}

// Failure is a switch that did not answer.
type Failure struct {
	Switch  string `json:"switch"`
	Address string `json:"address"`
	Error   string `json:"error"`
}

// String is one line for people and logs.
func (s Summary) String() string {
	return fmt.Sprintf("%d of %d switches answered, %d ports, %d links between switches (%d reported by one end only), %d to other devices, %d neighbours not placed, in %s",
		s.Answered, s.Asked, s.Ports, s.Links, s.OneEnded, s.Outside, s.Unresolved, s.Took.Round(time.Millisecond))
}

func (s *Surveyor) summariseRun(r *run, asked int) {
	n := s.Network()
	sum := &r.sum
	sum.Asked, sum.Answered = asked, asked-len(sum.Failures)
	for _, node := range n.Nodes {
		if node.Kind == SNMP {
			sum.Switches++
			sum.Ports += len(node.Ports)
		}
	}
	for _, e := range n.Edges {
		switch {
		case e.Tail.Kind == PR:
			sum.Outside++
		case e.Confirmed:
			sum.Links++
		default:
			sum.Links++
			sum.OneEnded++
		}
	}
	sum.Links, sum.OneEnded = sum.Links/2, sum.OneEnded/2 // each is two edges
	sum.Unresolved = len(n.Unresolved)
	sum.Took = time.Since(r.started)
	sum.Seconds = sum.Took.Seconds()
	if sum.Failures == nil {
		sum.Failures = []Failure{}
	}
	slices.SortFunc(sum.Failures, func(a, b Failure) int {
		return cmp.Compare(a.Switch, b.Switch)
	})
	s.mu.Lock()
	s.last = *sum
	s.mu.Unlock()
}

// Last returns the summary of the last discovery that was finished.
func (s *Surveyor) Last() Summary {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}
