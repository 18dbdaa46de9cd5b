package keystore

import (
	"context"
	"errors"
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
	follow(ctx context.Context, changed func()) error
}
