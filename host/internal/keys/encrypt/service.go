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
	"sync/atomic"
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

// Service seals and opens secrets with its Ring. It is safe for concurrent use.
type Service struct {
	*Ring
	o Options

	mu   sync.Mutex
	keys []held // the current one first

	schema atomic.Pointer[Schema]

	passing sync.Mutex // one pass over the store at a time
	files   sync.Mutex // one at a time over the settings files
}

// errKeyMismatch says that settings and datastore do not belong together.
func (s *Service) errKeyMismatch(id string) error {
	text := "put the key back that was in it, from a backup; to have another key use aaa:rotate-key"
	if s.o.Shared {
		text = "copy that file from a controller of this cluster that runs, and start again"
	}
	return fmt.Errorf(
		"%w: the datastore is sealed with key %s, but %s has no key or another one: %s",
		ErrKeyLost,
		id,
		ConfigFile(s.o.Dir),
		text,
	)
}

// Open reads the settings and brings them and the datastore together: at the first start it
// makes the key, and after an interrupted rotation it goes on with the new one.
func Open(ctx context.Context, o Options) (*Service, error) {
	s := &Service{Ring: &Ring{}, o: o}
	c, err := ReadConfig(o.Dir)
	if err != nil {
		return nil, err
	}
	for range 3 { // others may be starting for the first time at this moment
		if err = s.followKeys(ctx, c); !errors.Is(err, errOvertaken) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	s.OnForeign(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := s.refreshKeys(ctx); err != nil {
			o.Log.Warn("it is not known whether the key was replaced", "error", err)
		}
	})
	return s, nil
}

// refreshKeys takes over a key that another controller made current.
func (s *Service) refreshKeys(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.followKeys(ctx, s.keys[0].Config)
}

// followKeys makes the keys those of the datastore, starting from the settings c.
func (s *Service) followKeys(ctx context.Context, c Config) error {
	r, err := s.loadRecord(ctx)
	if err != nil {
		return err
	}
	if r == nil {
		return s.makeFirstKey(ctx, c)
	}
	if c.Key == "" {
		return s.errKeyMismatch(r.ID)
	}
	c.Salt = cmp.Or(c.Salt, r.Salt)
	own, err := c.deriveKey()
	if err != nil {
		return fmt.Errorf("%s: %w", ConfigFile(s.o.Dir), err)
	}
	keys, err := r.openKeys(own)
	if err != nil {
		return err
	}
	if keys == nil {
		return s.adoptChangedParams(ctx, r, own)
	}
	if own.key.ID() != r.ID {
		if err := keys[0].writeFile(s.o.Dir); err != nil {
			return fmt.Errorf(
				"the key that replaced the one in %s cannot be written: %w",
				ConfigFile(s.o.Dir),
				err,
			)
		}
		s.o.Log.Info(
			"the key was replaced, by another controller or before this start",
			"key",
			r.ID,
		)
	}
	s.useKeys(keys)
	return nil
}

// makeFirstKey makes the key at the first start.
func (s *Service) makeFirstKey(ctx context.Context, c Config) error {
	if c.generateMissing() {
		if err := c.writeFile(s.o.Dir); err != nil {
			return fmt.Errorf("the key cannot be written: %w", err)
		}
		s.o.Log.Info("a key for secrets was made; back it up", "file", ConfigFile(s.o.Dir))
	}
	own, err := c.deriveKey()
	if err != nil {
		return fmt.Errorf("%s: %w", ConfigFile(s.o.Dir), err)
	}
	keys := []held{own}
	if err := s.storeKeys(ctx, nil, keys, false); err != nil {
		return err
	}
	s.useKeys(keys)
	return nil
}

// adoptChangedParams makes own the current key if it is the current one with other parameters: the
// operator wants another cipher.
func (s *Service) adoptChangedParams(ctx context.Context, r *record, own held) error {
	before := own.Config
	before.Params, before.Salt = r.Params, r.Salt
	old, err := before.deriveKey()
	if err != nil || old.key.ID() != r.ID {
		return s.errKeyMismatch(r.ID)
	}
	keys, err := r.openKeys(old)
	if err != nil {
		return err
	}
	keys = slices.DeleteFunc(keys, func(h held) bool {
		return h.key.ID() == own.key.ID()
	}) // used before
	keys = append([]held{own}, keys...)
	if err := s.storeKeys(ctx, r, keys, true); err != nil {
		return err
	}
	s.o.Log.Info(
		"the settings of the encryption have changed; what is kept is sealed again",
		"key",
		own.key.ID(),
	)
	s.useKeys(keys)
	return nil
}

// setKeys takes over the keys.
func (s *Service) setKeys(keys []held) {
	s.keys = keys
	var earlier []*Key
	for _, h := range keys[1:] {
		earlier = append(earlier, h.key)
	}
	s.Set(keys[0].key, earlier...)
}

// useKeys takes over keys whose current one is in the file, and seals with it what earlier keys sealed
// in the settings files: the pass of another controller does not change those of this home.
func (s *Service) useKeys(keys []held) {
	s.setKeys(keys)
	var f Found
	if err := s.renewFiles(&f); err != nil {
		s.o.Log.Error(
			"the settings files are not sealed with the current key; aaa:rotate-key -resume tries it again",
			"error",
			err,
		)
	} else if f.Renewed > 0 {
		s.o.Log.Info("the settings files are sealed with the current key", "sealed", f.Renewed)
	}
}

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
	r, err := s.loadRecord(ctx)
	if err != nil {
		return err
	}
	if r == nil || r.ID != s.keys[0].key.ID() {
		return errOvertaken
	}
	c := s.keys[0].Config
	c.Key, c.Salt = "", ""
	c.generateMissing()
	next, err := c.deriveKey()
	if err != nil {
		return err
	}
	// The datastore first: a start that finds the earlier key in the file gets the new one from
	// there. The other way round the earlier key would be lost.
	keys := append([]held{next}, s.keys...)
	if err := s.storeKeys(ctx, r, keys, true); err != nil {
		return err
	}
	s.setKeys(keys)
	if err := c.writeFile(s.o.Dir); err != nil {
		return fmt.Errorf(
			"the new key is in use, but it cannot be written to %s: %w; the next start tries again, nothing is lost",
			ConfigFile(s.o.Dir),
			err,
		)
	}
	s.o.Log.Info(
		"the key for secrets was replaced; back it up",
		"file",
		ConfigFile(s.o.Dir),
		"key",
		next.key.ID(),
	)
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
	r, err := s.loadRecord(ctx)
	if err != nil {
		return Info{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := Info{
		Key:     s.keys[0].key.ID(),
		Pending: r != nil && r.Pending,
		Params:  s.keys[0].Params,
	}
	for _, h := range s.keys[1:] {
		i.Retired = append(i.Retired, h.key.ID())
	}
	slices.Sort(i.Retired)
	return i, nil
}

// Run follows other controllers, and ends a pass that was interrupted, until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	r, err := s.loadRecord(ctx)
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
				s.o.Log.Error(
					"not everything is sealed with the current key yet; the next start continues",
					"error",
					err,
				)
				return
			}
			s.o.Log.Info(
				"everything is sealed with the current key",
				"sealed",
				found.Renewed,
				"left",
				found.Left,
			)
		})
	}
	if !s.o.Shared {
		<-ctx.Done()
		return nil
	}
	return datastore.Changed(ctx, s.o.Store, []datastore.Prefix{{Namespace: namespace}}, func(ctx context.Context, _ *datastore.Batch) error {
		err := s.refreshKeys(ctx)
		if err != nil && ctx.Err() == nil {
			s.o.Log.Error("the key of the cluster cannot be followed", "error", err)
		}
		return nil
	})
}
