package encrypt

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"ctl.internal/host/internal/crypt"
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
	ring *crypt.Ring

	mu      sync.Mutex // the current key and what is below
	config  Config
	retired map[string]material

	passing sync.Mutex // one pass over the store at a time
	files   sync.Mutex // one at a time over the settings files
}

// errAnother is told when settings and datastore do not belong together.
func errAnother(path, id string, shared bool) error {
	text := "put the key back that was in it, from a backup; to have another key use aaa:rotate-key"
	if shared {
		text = "copy that file from a controller of this cluster that runs, and start again"
	}
	return fmt.Errorf("%w: what the datastore holds is sealed with key %s, and %s has none or another one: %s", crypt.ErrKeyLost, id, path, text)
}

// Open reads the settings and brings them and the datastore together: at the first
// start it makes the key, after an interrupted rotation it goes on with the new one,
// and what earlier releases sealed with data/seal.key still opens.
func Open(ctx context.Context, o Options) (*Service, error) {
	s := &Service{o: o}
	c, _, err := read(ConfigFile(o.Dir))
	if err != nil {
		return nil, err
	}
	raw, rawErr := crypt.ReadKeyFile(s.keyFile())
	for range 3 { // others may be starting for the first time at this moment
		err = s.settle(ctx, c, raw, rawErr)
		if !errors.Is(err, errOvertaken) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	s.renewOwn()
	s.ring.OnForeign(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := s.refresh(ctx); err != nil {
			o.Log.Warn("it is not known whether the key was replaced", "error", err)
		}
	})
	return s, nil
}

func (s *Service) keyFile() string { return s.o.Dir.Data("seal.key") }

// settle makes the ring, and changes settings and datastore where they must be.
func (s *Service) settle(ctx context.Context, c Config, raw [][]byte, rawErr error) error {
	r, err := s.load(ctx)
	if err != nil {
		return err
	}
	files, fileKeys := map[string]material{}, []*crypt.Key(nil)
	for _, b := range raw {
		k, err := crypt.RawKey(b)
		if err != nil {
			return err
		}
		files[k.ID()], fileKeys = material{Raw: b}, append(fileKeys, k)
	}
	var own *crypt.Key
	if r.current == nil {
		if rawErr != nil {
			return rawErr
		}
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
		if own, err = c.derive(); err != nil {
			return fmt.Errorf("%s: %w", ConfigFile(s.o.Dir), err)
		}
		if err := s.replace(ctx, nil, c, files, fileKeys...); err != nil {
			return err
		}
		return s.use(own, c, files, fileKeys)
	}
	if c, own, err = s.match(ctx, r, c, fileKeys); err != nil {
		return err
	}
	retired, old, err := r.open(own)
	if err != nil {
		return err
	}
	there := len(files) > 0
	for id := range files {
		_, in := retired[id]
		there = there && in
	}
	if there {
		if err := s.forgetFile(); err != nil {
			return err
		}
	}
	return s.use(own, c, retired, append(old, fileKeys...))
}

// match finds the current key of the datastore from the settings.
func (s *Service) match(ctx context.Context, r records, c Config, fileKeys []*crypt.Key) (Config, *crypt.Key, error) {
	lost := errAnother(ConfigFile(s.o.Dir), r.current.ID, s.o.Shared)
	var own *crypt.Key
	if c.Key != "" {
		if c.Salt == "" {
			c.Salt = r.current.Salt
		}
		var err error
		if own, err = c.derive(); err != nil {
			return c, nil, fmt.Errorf("%s: %w", ConfigFile(s.o.Dir), err)
		}
		if own.ID() == r.current.ID {
			return c, own, nil
		}
		fileKeys = append([]*crypt.Key{own}, fileKeys...)
	}
	for _, k := range fileKeys {
		if next, found, ok := r.successor(k); ok {
			next.KeyCharacters = c.KeyCharacters
			s.o.Log.Info("the key was replaced while this controller was away", "key", found.ID())
			return next, found, next.write(s.o.Dir)
		}
	}
	if own == nil {
		return c, nil, lost
	}
	// The same key with other parameters: the operator wants another cipher.
	before := c
	before.Params, before.Salt = r.current.Params, r.current.Salt
	old, err := before.derive()
	if err != nil || old.ID() != r.current.ID {
		return c, nil, lost
	}
	retired, _, err := r.open(old)
	if err != nil {
		return c, nil, err
	}
	retired[old.ID()] = material{Config: &before}
	if err := s.replace(ctx, r.current, c, retired, old); err != nil {
		return c, nil, err
	}
	s.o.Log.Info("the settings of the encryption have changed; what is kept is sealed anew", "key", own.ID())
	return c, own, errOvertaken // read it again as it is now
}

func (s *Service) use(own *crypt.Key, c Config, retired map[string]material, old []*crypt.Key) (err error) {
	s.config, s.retired = c, retired
	s.ring, err = crypt.NewRing(own, old...)
	return err
}

// Seal protects plaintext; Open needs the same purpose.
func (s *Service) Seal(plaintext, purpose []byte) ([]byte, error) {
	return s.ring.Seal(plaintext, purpose)
}

// Open returns the plaintext: crypt.ErrForeign, crypt.ErrForged.
func (s *Service) Open(sealed, purpose []byte) ([]byte, error) { return s.ring.Open(sealed, purpose) }

// refresh takes over a key that another controller made current.
func (s *Service) refresh(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.load(ctx)
	if err != nil || r.current == nil {
		return err
	}
	own, err := s.config.derive()
	if err != nil {
		return err
	}
	c := s.config
	if own.ID() != r.current.ID {
		next, k, ok := r.successor(own)
		if !ok {
			return errAnother(ConfigFile(s.o.Dir), r.current.ID, s.o.Shared)
		}
		next.KeyCharacters = c.KeyCharacters
		if err := next.write(s.o.Dir); err != nil {
			return fmt.Errorf("the key that another controller made cannot be written: %w", err)
		}
		s.o.Log.Info("another controller has replaced the key", "key", k.ID())
		c, own = next, k
	}
	retired, old, err := r.open(own)
	if err != nil {
		return err
	}
	s.ring.Add(old...)
	if err := s.ring.Use(own); err != nil {
		return err
	}
	s.renewOwn()
	for id := range s.retired {
		if _, still := retired[id]; !still {
			s.ring.Drop(id)
		}
	}
	s.config, s.retired = c, retired
	return nil
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
	if r.pending != 0 {
		wg.Go(func() {
			report, err := s.Pass(ctx)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				s.o.Log.Error("not everything is sealed with the current key yet; the next start goes on", "error", err)
				return
			}
			s.o.Log.Info("everything is sealed with the current key", "sealed", report.Renewed, "left", report.Left)
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

// forgetFile removes the key file of an earlier release once its keys are in the datastore.
func (s *Service) forgetFile() error {
	for _, name := range []string{s.keyFile(), s.keyFile() + ".made"} {
		if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}
