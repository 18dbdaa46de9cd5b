package service

import (
	"context"
	"time"

	"ctl.internal/internal/bier"
)

// taking bounds how long a question waits until what is configured now was taken in.
const taking = 2 * time.Second

// States implements operations.Routers.
func (s *Service) States(ctx context.Context, nodes []string, wait time.Duration) []bier.RouterState {
	revision := s.moved.Load()
	ctx, cancel := context.WithTimeout(ctx, max(wait, taking))
	defer cancel()
	s.data.taken(ctx, revision)
	if wait > 0 {
		s.data.answered(ctx, nodes, revision)
	}
	return s.data.states(nodes, revision)
}

// Compare implements operations.Routers.
func (s *Service) Compare(ctx context.Context, nodes []string) ([]bier.RouterState, error) {
	revision, err := s.data.compare(ctx, nodes)
	if err != nil {
		return nil, err
	}
	s.data.answered(ctx, nodes, revision)
	return s.data.states(nodes, s.moved.Load()), nil
}

// Session implements operations.Routers.
func (s *Service) Session(node string) bier.Session {
	x, _ := s.data.status.Sessions.Get(s.data.store.Now(), node)
	return x
}
