package service

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

const listKey = "switch-list"

// lastList remembers the file that switch:ReadDB loaded, so that a restart of the
// plugin or of the controller goes on with the same switches.
type lastList struct{ host *host.Client } // nil: nothing is kept

// load returns the remembered path, empty when there is none.
func (l lastList) load(ctx context.Context, log *slog.Logger) string {
	if l.host == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	e, err := l.host.Datastore.Get(ctx, host.Private, listKey)
	if err != nil {
		if !errors.Is(err, &fault.Error{Kind: fault.NotFound}) {
			log.Warn("the switch list loaded last is not known; a default one is looked for", "err", err)
		}
		return ""
	}
	return string(e.Value)
}

func (l lastList) save(ctx context.Context, path string) error {
	if l.host == nil {
		return nil
	}
	return l.host.Datastore.Put(ctx, listKey, []byte(path))
}
