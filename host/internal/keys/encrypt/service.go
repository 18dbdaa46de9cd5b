// Package encrypt is the encryption service: the key in the home's settings, secrets sealed
// with it in the datastore and in settings files, its replacement, and the commands for that.
// Passwords that are only ever compared are hashed instead, by package aaa.
package encrypt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/home"
)

// Options are what a Service works with.
type Options struct {
	Dir   home.Dir
	Store datastore.Store
	// Shared says that other controllers use the store, too.
	Shared bool
	// Documents is the namespace of configuration documents; those with secrets in
	// them are sealed as a whole.
	Documents string
	Log       *slog.Logger
}

// Service seals and opens secrets. It is safe for concurrent use.
type Service struct {
	o    Options
	ring *Ring

	mu      sync.Mutex // the keys
	current held
	earlier []held

	passing sync.Mutex // one pass over the store at a time
	files   sync.Mutex // one at a time over the settings files
}

// errKeyMismatch says that settings and datastore do not belong together.
func (s *Service) errKeyMismatch(id string) error {
	text := "put the key back that was in it, from a backup; to have another key use aaa:rotate-key"
	if s.o.Shared {
		text = "copy that file from a controller of this cluster that runs, and start again"
	}
	return fmt.Errorf("%w: the datastore is sealed with key %s, but %s has no key or another one: %s", ErrKeyLost, id, ConfigFile(s.o.Dir), text)
}

// Open reads the settings and brings them and the datastore together: at the first start it
// makes the key, and after an interrupted rotation it goes on with the new one.
func Open(ctx context.Context, o Options) (*Service, error) {
	s := &Service{o: o}
	c, err := ReadConfig(o.Dir)
	if err != nil {
		return nil, err
	}
	for range 3 { // others may be starting for the first time at this moment
		if err = s.follow(ctx, c); !errors.Is(err, errOvertaken) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	s.ring.OnForeign(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := s.refresh(ctx); err != nil {
			o.Log.Warn("it is not known whether the key was replaced", "error", err)
		}
	})
	return s, nil
}

// refresh takes over a key that another controller made current.
func (s *Service) refresh(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.follow(ctx, s.current.Config)
}

// follow makes the keys those of the datastore, starting from the settings c.
func (s *Service) follow(ctx context.Context, c Config) error {
	r, err := s.load(ctx)
	if err != nil {
		return err
	}
	if r == nil {
		return s.first(ctx, c)
	}
	if c.Key == "" {
		return s.errKeyMismatch(r.ID)
	}
	c.Salt = cmp.Or(c.Salt, r.Salt)
	own, err := c.hold()
	if err != nil {
		return fmt.Errorf("%s: %w", ConfigFile(s.o.Dir), err)
	}
	if own.key.ID() != r.ID {
		current, ok := r.next(own)
		if !ok {
			return s.changed(ctx, r, own)
		}
		if err := current.write(s.o.Dir); err != nil {
			return fmt.Errorf("the key that replaced the one in %s cannot be written: %w", ConfigFile(s.o.Dir), err)
		}
		s.o.Log.Info("the key was replaced, by another controller or before this start", "key", r.ID)
		own = current
	}
	earlier, err := r.earlier(own)
	if err != nil {
		return err
	}
	s.use(own, earlier)
	return nil
}

// first makes the key at the first start.
func (s *Service) first(ctx context.Context, c Config) error {
	made, err := c.complete()
	if err != nil {
		return err
	}
	if made {
		if err := c.write(s.o.Dir); err != nil {
			return fmt.Errorf("the key cannot be written: %w", err)
		}
		s.o.Log.Info("a key for secrets was made; back it up", "file", ConfigFile(s.o.Dir))
	}
	own, err := c.hold()
	if err != nil {
		return fmt.Errorf("%s: %w", ConfigFile(s.o.Dir), err)
	}
	if err := s.store(ctx, nil, own, nil, false); err != nil {
		return err
	}
	s.use(own, nil)
	return nil
}

// changed makes own the current key if it is the current one with other parameters: the
// operator wants another cipher.
func (s *Service) changed(ctx context.Context, r *record, own held) error {
	before := own.Config
	before.Params, before.Salt = r.Params, r.Salt
	old, err := before.hold()
	if err != nil || old.key.ID() != r.ID {
		return s.errKeyMismatch(r.ID)
	}
	earlier, err := r.earlier(old)
	if err != nil {
		return err
	}
	earlier = append(slices.DeleteFunc(earlier, func(h held) bool { return h.key.ID() == own.key.ID() }), old)
	if err := s.store(ctx, r, own, earlier, true); err != nil {
		return err
	}
	s.o.Log.Info("the settings of the encryption have changed; what is kept is sealed again", "key", own.key.ID())
	s.use(own, earlier)
	return nil
}

// set takes over the keys.
func (s *Service) set(current held, earlier []held) {
	s.current, s.earlier = current, earlier
	var others []*Key
	for _, h := range earlier {
		others = append(others, h.key)
	}
	if s.ring == nil {
		s.ring = NewRing(current.key, others...)
	} else {
		s.ring.Set(current.key, others...)
	}
}

// use takes over keys whose current one is in the file, and seals with it what earlier keys sealed
// in the settings files: the pass of another controller does not change those of this home.
func (s *Service) use(current held, earlier []held) {
	s.set(current, earlier)
	var f Found
	if err := s.renewFiles(&f); err != nil {
		s.o.Log.Error("the settings files are not sealed with the current key; aaa:rotate-key -resume tries it again", "error", err)
	} else if f.Renewed > 0 {
		s.o.Log.Info("the settings files are sealed with the current key", "sealed", f.Renewed)
	}
}

// Seal protects plaintext; Open needs the same purpose.
func (s *Service) Seal(plaintext, purpose []byte) ([]byte, error) {
	return s.ring.Seal(plaintext, purpose)
}

// Open returns the plaintext: ErrForeign, ErrForged.
func (s *Service) Open(sealed, purpose []byte) ([]byte, error) { return s.ring.Open(sealed, purpose) }

// Rotate makes a new key and salt at random, with the parameters of now, and seals everything
// again. Should it be interrupted, the next start goes on.
func (s *Service) Rotate(ctx context.Context) (Found, error) {
	if err := s.newKey(ctx); err != nil {
		return Found{}, err
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
	if r == nil || r.ID != s.current.key.ID() {
		return errOvertaken
	}
	c := s.current.Config
	c.Key, c.Salt = "", ""
	if _, err := c.complete(); err != nil {
		return err
	}
	next, err := c.hold()
	if err != nil {
		return err
	}
	// The datastore first: a start that finds the earlier key in the file gets the new one from
	// there. The other way round the earlier key would be lost.
	earlier := append(slices.Clone(s.earlier), s.current)
	if err := s.store(ctx, r, next, earlier, true); err != nil {
		return err
	}
	s.set(next, earlier)
	if err := c.write(s.o.Dir); err != nil {
		return fmt.Errorf("the new key is in use, but it cannot be written to %s: %w; the next start tries again, nothing is lost", ConfigFile(s.o.Dir), err)
	}
	s.o.Log.Info("the key for secrets was replaced; back it up", "file", ConfigFile(s.o.Dir), "key", next.key.ID())
	return nil
}

// Info describes the keys, without any secret.
type Info struct {
	Key     string   `json:"key"` // id of the current one
	Retired []string `json:"retired,omitempty"`
	Pending bool     `json:"pending"` // not everything is sealed with the current key yet
	Params
}

// Info describes the keys.
func (s *Service) Info(ctx context.Context) (Info, error) {
	r, err := s.load(ctx)
	if err != nil {
		return Info{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return Info{Key: s.ring.CurrentID(), Retired: s.ring.EarlierIDs(), Pending: r != nil && r.Pending, Params: s.current.Params}, nil
}

// Run follows other controllers, and ends a pass that was interrupted, until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	r, err := s.load(ctx)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	if r != nil && r.Pending {
		wg.Go(func() {
			found, err := s.Pass(ctx)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				s.o.Log.Error("not everything is sealed with the current key yet; the next start continues", "error", err)
				return
			}
			s.o.Log.Info("everything is sealed with the current key", "sealed", found.Renewed, "left", found.Left)
		})
	}
	if !s.o.Shared {
		<-ctx.Done()
		return nil
	}
	return datastore.Changed(ctx, s.o.Store, []datastore.Prefix{{Namespace: namespace}}, func(ctx context.Context, _ *datastore.Batch) error {
		if err := s.refresh(ctx); err != nil && ctx.Err() == nil {
			s.o.Log.Error("the key of the cluster cannot be followed", "error", err)
		}
		return nil
	})
}
