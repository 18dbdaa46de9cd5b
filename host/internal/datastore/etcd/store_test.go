package etcd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/sdk/plugintest/reserve"
	"ctl.internal/test/harness"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func freeAddress(t *testing.T) string {
	t.Helper()
	return fmt.Sprint("http://127.0.0.1:", reserve.Port(t, "tcp", "127.0.0.1"))
}

func TestTwoControllersSeeEachOther(t *testing.T) {
	a := openAt(t, Options{Endpoints: []string{harness.Etcd(t)}, Timeout: time.Minute, Prefix: fmt.Sprintf("ctl-test/%d/two/", os.Getpid())})
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
}

func TestClusterThatDoesNotAnswer(t *testing.T) {
	endpoint := freeAddress(t)
	_, err := Open(context.Background(), Options{Endpoints: []string{endpoint}, Timeout: 200 * time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), endpoint) {
		t.Fatalf("error %v, want one that names %s", err, endpoint)
	}
}
