package discovery

import (
	"context"
	"sync"
	"time"

	"ctl.internal/sdk/switchdriver"
)

// reader reads one switch.
type reader func(context.Context, *switchdriver.Switch) (*Observation, error)

// answer is what one switch gave.
type answer struct {
	sw    *switchdriver.Switch
	obs   *Observation
	err   error
	asked time.Time
}

// ask has the workers read all switches; exactly one answer comes for each.
func (s *Surveyor) ask(switches []*switchdriver.Switch, read reader) <-chan answer {
	todo, answers := make(chan *switchdriver.Switch), make(chan answer, s.opt.Workers)
	var workers sync.WaitGroup
	for range min(s.opt.Workers, len(switches)) {
		workers.Go(func() {
			for sw := range todo {
				ctx, cancel := context.WithTimeout(s.ctx, s.opt.Deadline)
				asked := time.Now()
				obs, err := read(ctx, sw)
				cancel()
				answers <- answer{sw, obs, err, asked}
			}
		})
	}
	s.wg.Go(func() {
		for _, sw := range switches {
			todo <- sw
		}
		close(todo)
		workers.Wait()
	})
	return answers
}
