package keystore

import (
	"context"
	"errors"

	"ctl.internal/host/internal/datastore"
)

// errNone says that no keystores were made yet.
var errNone = errors.New("keystore: none yet")

// saved is all that is kept of the two keystores.
type saved struct {
	ctl, trust                 []byte // as Java reads them
	ctlPassword, trustPassword string
	alias                      string
	protocols, suites          []string
}

// storage keeps keystores; save replaces the old ones as a whole or not at all.
type storage interface {
	load(ctx context.Context) (saved, error) // errNone
	save(ctx context.Context, s saved) error
	// follow calls changed when others changed what is kept, until ctx ends.
	follow(ctx context.Context, changed func(datastore.Revision)) error
	// current reports that what was loaded or saved last is not older than a revision.
	current(r datastore.Revision) bool
}
