package switchlist

import (
	"context"
	"encoding/json"
	"time"

	"golang.org/x/sync/errgroup"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/sdk/fault"
)

// The keys: list/head names the generation in force, whose entries are
// list-row/GEN/MAC.
// A list is replaced by writing another generation and then the head, so that no reader sees
// half of it. Whoever changes an entry writes the head too.
const (
	headPrefix = "list/"
	headKey    = "head"
	rowPrefix  = "list-row/"
	seenPrefix = "list-seen/" // and the node
)

// Secrets seals and opens; host.Secrets does.
type Secrets interface {
	Seal(ctx context.Context, purpose string, plaintext []byte) ([]byte, error)
	Open(ctx context.Context, purpose string, sealed []byte) ([]byte, error)
	OpenText(ctx context.Context, text string) (string, error)
}

// Head says which list is in force.
type Head struct {
	Generation string    `json:"generation"`
	Path       string    `json:"path,omitempty"`  // empty: requests have made the list
	File       string    `json:"file,omitempty"`  // the one switch:ReadDB read last
	Sum        string    `json:"sum,omitempty"`   // of the file's text
	Place      string    `json:"place,omitempty"` // of the file's directory, see placeOf
	Source     string    `json:"source"`          // node that read it
	At         time.Time `json:"at"`
	Problems   []Problem `json:"problems,omitempty"` // of the file, the first keptProblems
}

// keptProblems is how many lines with problems are kept with a list.
const keptProblems = 100

// stored is an entry as it is kept: what is secret is sealed.
type stored struct {
	Entry
	Sealed []byte `json:"sealed,omitempty"`
}

// sealPurpose ties what is sealed to its switch.
func sealPurpose(m mib.MAC) string {
	return "switch-list/" + m.String()
}

func rowKey(generation string, m mib.MAC) string {
	return generation + "/" + m.String()
}

// The bounds of opening or sealing a whole list, and how many secrets at a time.
const (
	openingTime = 30 * time.Second
	sealers     = 16
)

func runEach(ctx context.Context, n int, f func(context.Context, int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(sealers)
	for i := range n {
		g.Go(func() error { return f(ctx, i) })
	}
	return g.Wait()
}

// openEntry returns the entry of a record; on error it has no secrets.
func (v *Inventory) openEntry(ctx context.Context, s stored) (Entry, error) {
	e := s.Entry
	if len(s.Sealed) == 0 {
		return e, nil
	}
	plain, err := v.secrets.Open(ctx, sealPurpose(s.MAC), s.Sealed)
	if err != nil {
		return e, fault.Wrap(
			fault.KindOf(err),
			err,
			"the secrets of switch %s cannot be opened: %v",
			s.MAC,
			err,
		)
	}
	var values [5]string
	if err := json.Unmarshal(plain, &values); err != nil {
		return e, fault.New(fault.Internal, "the secrets of switch %s are not readable", s.MAC)
	}
	for i, to := range e.secretFields() {
		*to = values[i]
	}
	return e, nil
}

// sealEntry returns the record of an entry.
func (v *Inventory) sealEntry(ctx context.Context, e Entry) (s stored, err error) {
	var values [5]string
	for i, from := range e.secretFields() {
		values[i] = *from
	}
	s.Entry = e
	if values == [5]string{} {
		return s, nil
	}
	plain, err := json.Marshal(values)
	if err != nil {
		return s, err
	}
	s.Sealed, err = v.secrets.Seal(ctx, sealPurpose(e.MAC), plain)
	return s, err
}
