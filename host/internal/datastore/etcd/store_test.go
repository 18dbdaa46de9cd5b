package etcd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/conformance"
	"ctl.internal/sdk/lab/reserve"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// cluster returns the address of a real etcd: that of CTL_TEST_ETCD, or one of
// its own from the etcd program.
func cluster(t *testing.T) string {
	t.Helper()
	if e := os.Getenv("CTL_TEST_ETCD"); e != "" {
		return e
	}
	program, err := exec.LookPath("etcd")
	if err != nil {
		t.Skip("SKIPPED, NOT TESTED: the peer etcd is not there, so the etcd engine is not tested. Install etcd, or set CTL_TEST_ETCD to a cluster run with --max-txn-ops=20000 --max-request-bytes=16777216")
	}
	client, peer := freeAddress(t), freeAddress(t)
	dir := t.TempDir()
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(program, "--data-dir", filepath.Join(dir, "data"), "--name", "test",
		"--listen-client-urls", client, "--advertise-client-urls", client,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "test="+peer,
		"--max-txn-ops", "20000", "--max-request-bytes", "16777216", "--unsafe-no-fsync")
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			b, _ := os.ReadFile(log.Name())
			t.Logf("etcd said:\n%.4000s", b)
		}
	})
	return client
}

func freeAddress(t *testing.T) string {
	t.Helper()
	return fmt.Sprint("http://127.0.0.1:", reserve.Port(t, "tcp", "127.0.0.1"))
}

func TestAgainstRealEtcd(t *testing.T) {
	endpoint := cluster(t)
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
		err = a.Watch(context.Background(), "n", "", start, func(got datastore.Batch) error {
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
