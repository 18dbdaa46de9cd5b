package etcd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/conformance"
	"ctl.internal/sdk/plugintest/reserve"
	"ctl.internal/test/harness"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func freeAddress(t *testing.T) string {
	t.Helper()
	return fmt.Sprint("http://127.0.0.1:", reserve.Port(t, "tcp", "127.0.0.1"))
}

func TestAgainstRealEtcd(t *testing.T) {
	endpoint := harness.Etcd(t)
	var n atomic.Int64
	open := func(t *testing.T, history int) datastore.Store {
		t.Helper()
		s, err := Open(context.Background(), Options{Endpoints: []string{endpoint}, History: history, Timeout: time.Minute,
			Prefix: fmt.Sprintf("ctl-test/%d/%d/", os.Getpid(), n.Add(1))})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	t.Run("conformance", func(t *testing.T) { conformance.Run(t, open) })
	t.Run("two controllers see each other", func(t *testing.T) {
		a := open(t, 0).(*Store)
		b, err := Open(context.Background(), a.o)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		start := a.Revision()
		if _, err := b.Commit(context.Background(), datastore.Txn{Ops: []datastore.Op{datastore.Put("n", "k", []byte("b"))}}); err != nil {
			t.Fatal(err)
		}
		enough := errors.New("enough")
		err = a.Watch(context.Background(), start, []datastore.Prefix{{Namespace: "n"}}, func(got datastore.Batch) error {
			if len(got.Events) == 0 {
				return nil
			}
			if len(got.Events) != 1 || string(got.Events[0].Value) != "b" {
				t.Errorf("%+v", got)
			}
			return enough
		})
		if !errors.Is(err, enough) {
			t.Fatal(err)
		}
	})
}

func TestClusterThatDoesNotAnswer(t *testing.T) {
	endpoint := freeAddress(t)
	_, err := Open(context.Background(), Options{Endpoints: []string{endpoint}, Timeout: 200 * time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), endpoint) {
		t.Fatalf("error %v, want one that names %s", err, endpoint)
	}
}
