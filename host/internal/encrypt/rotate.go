package encrypt

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"ctl.internal/host/internal/crypt"
)

// Rotate makes a new key and salt at random, with the parameters that count now,
// and seals everything anew. Should it be interrupted, the next start goes on.
func (s *Service) Rotate(ctx context.Context) (Report, error) {
	if err := s.newKey(ctx); err != nil {
		return Report{}, err
	}
	return s.Pass(ctx)
}

func (s *Service) newKey(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.load(ctx)
	if err != nil {
		return err
	}
	own, err := s.config.derive()
	if err != nil {
		return err
	}
	if r.current == nil || r.current.ID != own.ID() {
		return errOvertaken
	}
	next := s.config
	next.Key, next.Salt = "", ""
	if _, err := next.complete(); err != nil {
		return err
	}
	k, err := next.derive()
	if err != nil {
		return err
	}
	was := s.config
	retired := maps.Clone(s.retired)
	retired[own.ID()] = material{Config: &was}
	// The datastore first: a start that finds the earlier key in the file is handed
	// over to the new one. The other way round the earlier key would be lost.
	if err := s.replace(ctx, r.current, next, retired, own); err != nil {
		return err
	}
	s.config, s.retired = next, retired
	if err := s.ring.Use(k); err != nil {
		return err
	}
	if err := next.write(s.o.Dir); err != nil {
		return fmt.Errorf("the new key counts, and cannot be written to %s: %w; the next start tries again, nothing is lost", ConfigFile(s.o.Dir), err)
	}
	s.o.Log.Info("the key for secrets was replaced; back it up", "file", ConfigFile(s.o.Dir), "key", k.ID())
	return nil
}

// Info tells about the keys, without any secret.
type Info struct {
	Key     string   `json:"key"` // id of the current one
	Retired []string `json:"retired,omitempty"`
	Pending bool     `json:"pending"` // not everything is sealed with the current key yet
	crypt.Params
}

// Info tells which key counts.
func (s *Service) Info(ctx context.Context) (Info, error) {
	r, err := s.load(ctx)
	if err != nil {
		return Info{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := Info{Key: s.ring.CurrentID(), Pending: r.pending != 0, Params: s.config.Params}
	for _, id := range s.ring.IDs() {
		if id != i.Key {
			i.Retired = append(i.Retired, id)
		}
	}
	slices.Sort(i.Retired)
	return i, nil
}

// Config is the settings that count, without key and salt.
func (s *Service) Config() Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.config
	c.Key, c.Salt = "", ""
	return c
}
