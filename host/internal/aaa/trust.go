package aaa

import (
	"context"
	"encoding/json"
	"time"

	"ctl.internal/host/internal/aaa/throttle"
	"ctl.internal/host/internal/datastore"
)

// trustNamespace holds which users have logged in from which addresses: USER NUL ADDRESS -> time.
const trustNamespace = "aaa-trust"

// trustWrite bounds how long a login waits for being remembered.
const trustWrite = 2 * time.Second

// keepTrust gives the throttle what was trusted before, forgets what is over, and has new trust kept:
// guesses from elsewhere must not lock a user out of an address after a restart either.
func (a *AAA) keepTrust(ctx context.Context, l *throttle.Limiter) error {
	var known []throttle.Trust
	var over []datastore.Op
	err := a.o.Store.View(ctx, func(sn datastore.Snapshot) error {
		for e, err := range sn.Range(trustNamespace, datastore.RangeOptions{}) {
			if err != nil {
				return err
			}
			var t throttle.Trust
			if json.Unmarshal(e.Value, &t) != nil || a.o.Now().Sub(t.At) >= throttle.TrustFor {
				over = append(over, datastore.Delete(trustNamespace, e.Key))
				continue
			}
			known = append(known, t)
		}
		return nil
	})
	if err == nil && len(over) > 0 {
		_, err = a.o.Store.Commit(ctx, datastore.Txn{Ops: over[:min(len(over), 1000)]})
	}
	l.Keep(known, func(t throttle.Trust) {
		value, err := json.Marshal(t)
		if err == nil {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), trustWrite)
			defer cancel()
			_, err = a.o.Store.Commit(
				ctx,
				datastore.Txn{Ops: []datastore.Op{datastore.Put(
					trustNamespace,
					t.User+"\x00"+t.From.String(),
					value,
				)}},
			)
		}
		if err != nil {
			a.log.Warn(
				"where a user has logged in from is not kept: after a restart guesses may delay the user there",
				"error",
				err,
			)
		}
	})
	return err
}
