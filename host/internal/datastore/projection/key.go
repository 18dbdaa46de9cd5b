package projection

import (
	"fmt"
	"slices"
	"strings"

	"ctl.internal/host/internal/datastore"
)

// The longest names an engine takes; Badger's own bound is 65,000 bytes.
const (
	MaxNamespace = 255
	MaxKey       = 16 << 10
)

// CheckKey refuses a key no engine can keep, and a namespace that could run into the keys of the
// next one. A prefix may be empty, a key may not.
func CheckKey(ns, key string, prefix bool) error {
	switch {
	case ns == "":
		return fmt.Errorf("%w: the namespace is empty", datastore.ErrInvalid)
	case len(ns) > MaxNamespace:
		return fmt.Errorf(
			"%w: the namespace has %d bytes, at most %d are allowed",
			datastore.ErrInvalid,
			len(ns),
			MaxNamespace,
		)
	case strings.IndexByte(ns, 0) >= 0:
		return fmt.Errorf("%w: the namespace %q contains a zero byte", datastore.ErrInvalid, ns)
	case key == "" && !prefix:
		return fmt.Errorf("%w: empty key in namespace %q", datastore.ErrInvalid, ns)
	case len(key) > MaxKey:
		return fmt.Errorf(
			"%w: a key in namespace %q has %d bytes, at most %d are allowed",
			datastore.ErrInvalid,
			ns,
			len(key),
			MaxKey,
		)
	}
	return nil
}

// CheckTxn refuses a transaction with a name that no engine can keep.
func CheckTxn(t datastore.Txn) error {
	for _, c := range t.Compares {
		if err := CheckKey(c.Namespace, c.Key, c.Prefix); err != nil {
			return err
		}
	}
	for _, o := range t.Ops {
		if err := CheckKey(o.Namespace, o.Key, o.DeletePrefix); err != nil {
			return err
		}
	}
	return nil
}

// NoLeases refuses a transaction with a lease, for engines that have none.
func NoLeases(t datastore.Txn) error {
	if slices.ContainsFunc(t.Ops, func(o datastore.Op) bool { return o.Lease != 0 }) {
		return fmt.Errorf("%w: this engine has no leases", datastore.ErrInvalid)
	}
	return nil
}

// Join makes one ordered key of namespace and key.
func Join(ns, key string) string { return ns + "\x00" + key }

// Split is the inverse of Join.
func Split(joined string) (ns, key string) {
	ns, key, _ = strings.Cut(joined, "\x00")
	return ns, key
}
