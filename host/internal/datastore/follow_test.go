package datastore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/storetest"
)

// broken is a store that cannot be followed until it is mended.
type broken struct {
	datastore.Store
	fail chan error
}

func (b *broken) Watch(ctx context.Context, after datastore.Revision, prefixes []datastore.Prefix, f func(datastore.Batch) error) error {
	select {
	case err := <-b.fail:
		return err
	default:
		return b.Store.Watch(ctx, after, prefixes, f)
	}
}

// Two nodes share a store: what one commits, the other sees, also after it
// could not follow the store for a while.
func TestFollowTellsOfCommitsOfOtherNodes(t *testing.T) {
	store := storetest.New(storetest.Options{})
	defer store.Close()
	put := func(key string) {
		t.Helper()
		if _, err := store.Commit(t.Context(), datastore.Txn{Ops: []datastore.Op{datastore.Put("config", key, nil)}}); err != nil {
			t.Fatal(err)
		}
	}
	put("/aaa:before") // so that there is a revision to begin after
	s := &broken{Store: store, fail: make(chan error, 1)}
	s.fail <- errors.New("the leader is lost")
	seen := make(chan datastore.Revision, 100)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	refuse := true
	go func() {
		done <- datastore.Changed(ctx, s, []datastore.Prefix{{Namespace: "config", Key: "/aaa:"}}, func(context.Context, *datastore.Batch) error {
			if refuse { // the first reading fails: it is repeated
				refuse = false
				return errors.New("cannot be read")
			}
			seen <- store.Revision()
			return nil
		})
	}()
	reach := func(want datastore.Revision) {
		t.Helper()
		for deadline := time.After(time.Minute); ; {
			select {
			case rev := <-seen:
				if rev >= want {
					return
				}
			case <-deadline:
				t.Fatalf("no event for revision %d", want)
			}
		}
	}
	reach(1) // what was there before
	put("/aaa:http-authorization")
	reach(2)
	put("/other")
	put("/aaa:http-authorization")
	reach(4)
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
