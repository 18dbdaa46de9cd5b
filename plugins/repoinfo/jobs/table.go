package jobs

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"
)

// Value is a value of the file of values.
type Value struct {
	Bucket     string
	Key, Value []byte
}

// ReadValues calls do with a function that looks up the values of one bucket: nil where there is none. What it returns
// must not be used later.
func (c *Store) ReadValues(bucket string, do func(look func(key []byte) []byte)) {
	if c.table == nil {
		return
	}
	err := safely(func() error {
		return c.table.View(func(tx *bbolt.Tx) error {
			if b := tx.Bucket([]byte(bucket)); b != nil {
				do(b.Get)
			}
			return nil
		})
	})
	if err != nil {
		c.log.Warn("kept values could not be read", "file", c.table.Path(), "error", err)
	}
}

// WriteValues writes values in one transaction, which costs a sync of the disk. A disk that does not take them is
// logged; the answer at hand does not suffer.
func (c *Store) WriteValues(values []Value) {
	if c.table == nil || len(values) == 0 {
		return
	}
	err := safely(func() error {
		return c.table.Update(func(tx *bbolt.Tx) error { return putValues(tx, values) })
	})
	if err != nil {
		c.log.Warn(
			"values could not be written and will be made again",
			"file",
			c.table.Path(),
			"error",
			err,
		)
	}
}

func putValues(tx *bbolt.Tx, values []Value) error {
	for _, v := range values {
		b, err := tx.CreateBucketIfNotExists([]byte(v.Bucket))
		if err != nil {
			return err
		}
		if err := b.Put(v.Key, v.Value); err != nil {
			return err
		}
	}
	return nil
}

// secrets is the bucket of Secret.
const secrets = "secrets"

// Secret returns random bytes that stay the same over restarts.
func (c *Store) Secret(name string, random func() []byte) []byte {
	secret := random()
	known := false
	c.ReadValues(secrets, func(look func([]byte) []byte) {
		have := look([]byte(name))
		if known = len(have) == len(secret); known {
			copy(secret, have)
		}
	})
	if !known {
		c.WriteValues([]Value{{
			Bucket: secrets,
			Key:    []byte(name),
			Value:  secret,
		}})
	}
	return secret
}

// openTable opens or makes the file counts.db below dir. A file that cannot be used is logged, and made again when
// it is damaged: everything in it can be made again.
func openTable(dir string, log *slog.Logger) *bbolt.DB {
	path := filepath.Join(dir, "counts.db")
	var db *bbolt.DB
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		db, err = openFile(path)
	}
	if errors.Is(err, errDamaged) {
		log.Warn(
			"the line counts are damaged and will be counted again",
			"file",
			path,
			"error",
			err,
		)
		if err = os.Remove(path); err == nil || errors.Is(err, os.ErrNotExist) {
			db, err = openFile(path)
		}
	}
	if err != nil {
		log.Warn("line counts are not kept over a restart", "file", path, "error", err)
	}
	return db
}

func (c *Store) closeTable() {
	if c.table == nil {
		return
	}
	if err := c.table.Close(); err != nil {
		c.log.Warn("closing the line counts failed", "file", c.table.Path(), "error", err)
	}
}

var errDamaged = errors.New("the file cannot be read")

// openFile opens the file, which reads all of its pages. bbolt panics at some damages, in
// goroutines of its own too: the mark shows the next start that this one ended here.
func openFile(path string) (db *bbolt.DB, err error) {
	mark := path + ".opening"
	if _, err := os.Lstat(mark); err == nil {
		return nil, errors.Join(errDamaged, os.Remove(mark))
	}
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		return nil, err
	}
	err = safely(func() (err error) { // a panic leaves the file open, but the caller removes it
		db, err = bbolt.Open(path, 0o600,
			&bbolt.Options{
				Timeout:        10 * time.Second,
				NoFreelistSync: true,
				FreelistType:   bbolt.FreelistMapType,
			})
		return err
	})
	if err != nil && !errors.Is(err, os.ErrPermission) && !errors.Is(err, bbolterrors.ErrTimeout) {
		err = errors.Join(errDamaged, err)
	}
	return db, errors.Join(err, os.Remove(mark))
}
