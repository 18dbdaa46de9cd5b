package netconf

import (
	"context"
	"errors"
	"time"
)

// greetAgain is how long the first question may be unanswered before it is asked
// again; the pause doubles. It is asked maxGreets times at most.
const (
	greetAgain = time.Second
	maxGreets  = 6
)

// greet asks for nothing until there is an answer to one of its questions. Some
// servers lose the first message after a hello (seen with netconfd 2.13); a question
// that changes nothing may be lost and asked again, an edit may not.
func (s *Session) greet(ctx context.Context) error {
	op := GetConfigOp(Running, NoFilter()...)
	reply := make(chan answer, maxGreets) // room for an answer to each
	var asked []string
	defer func() { s.abandon(asked) }()
	for pause := greetAgain; ; pause *= 2 {
		var again <-chan time.Time
		if len(asked) < maxGreets {
			ids, err := s.ask(ctx, []Operation{op}, []chan answer{reply}, func() { s.fail(ctx.Err()) })
			if err != nil {
				return err
			}
			asked = append(asked, ids...)
			t := time.NewTimer(pause)
			defer t.Stop() // maxGreets of them
			again = t.C
		}
		select {
		case a := <-reply:
			var no Refusal
			if errors.As(a.err, &no) || errors.Is(a.err, ErrUnclear) {
				return nil
			}
			return a.err
		case <-ctx.Done():
			return errors.Join(errors.New("the router said hello and then nothing"), ctx.Err())
		case <-again:
		}
	}
}

// abandon lets answers to these questions come late.
func (s *Session) abandon(ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		if s.waiting[id] != nil {
			delete(s.waiting, id)
			s.abandoned[id] = true
		}
	}
}
