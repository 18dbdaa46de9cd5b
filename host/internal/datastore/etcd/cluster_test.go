package etcd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/sdk/fault"
	"ctl.internal/test/harness"
)

// cluster starts three members.
func cluster(t *testing.T) (members []*harness.EtcdMember, endpoints []string) {
	t.Helper()
	members = harness.EtcdCluster(t, 3)
	for _, m := range members {
		endpoints = append(endpoints, m.Client)
	}
	return members, endpoints
}

func openAt(t *testing.T, o Options) *Store {
	t.Helper()
	s, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func dump(t *testing.T, sn datastore.Snapshot) string {
	var out strings.Builder
	for ns := range sn.Namespaces() {
		for e, err := range sn.Range(ns, datastore.RangeOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, "%s %s=%s@%d\n", ns, e.Key, e.Value, e.Revision)
		}
	}
	return out.String()
}

// Without a majority nothing is acknowledged, reads are refused in a bounded time, local
// reads go on, and when the members are back everything goes on without a restart.
func TestWithoutAMajority(t *testing.T) {
	t.Parallel()
	members, endpoints := cluster(t)
	s := openAt(t, Options{Endpoints: endpoints, Prefix: "ctl/"})
	put := func(value string) (datastore.Revision, error) {
		return s.Commit(context.Background(), datastore.Txn{Ops: []datastore.Op{datastore.Put("n", "k", []byte(value))}})
	}
	before, err := put("1")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range members[:2] {
		m.Signal(syscall.SIGSTOP)
	}
	refused := func(err error, kinds ...fault.Kind) {
		t.Helper()
		for _, k := range kinds {
			if err != nil && fault.KindOf(err) == k {
				return
			}
		}
		t.Errorf("got %v (%v), want a fault of kind %v", err, fault.KindOf(err), kinds)
	}
	begun := time.Now()
	_, err = put("2")
	t.Logf("a write was refused after %v: %v", time.Since(begun), err)
	refused(err, fault.Timeout, fault.Unavailable)
	begun = time.Now()
	err = s.View(context.Background(), func(datastore.Snapshot) error { return nil })
	t.Logf("a read was refused after %v: %v", time.Since(begun), err)
	refused(err, fault.Unavailable)
	begun = time.Now()
	_, err = put("3")
	t.Logf("another write was refused after %v: %v", time.Since(begun), err)
	refused(err, fault.Unavailable) // nothing was sent: the store knows that it is alone
	age, err := s.Local(func(sn datastore.Snapshot) error {
		e, err := sn.Get("n", "k")
		if err == nil && (string(e.Value) != "1" || e.Revision != before) {
			t.Errorf("local reads see %q at %d", e.Value, e.Revision)
		}
		return err
	})
	if err != nil || age < 5*time.Second {
		t.Errorf("local reads: %v, age %v", err, age)
	}
	for _, m := range members[:2] {
		m.Signal(syscall.SIGCONT)
	}
	harness.Within(t, "writes go on", func() bool { _, err := put("4"); return err == nil })
	e, err := datastore.Get(context.Background(), s, "n", "k")
	if err != nil || string(e.Value) != "4" {
		t.Errorf("read %q, %v", e.Value, err)
	}
}

// link is a way to a member that can be cut, or muted: what the member says is lost.
type link struct {
	listener net.Listener
	to       string
	mute     atomic.Bool
	mu       sync.Mutex
	cut      bool
	open     []net.Conn
	wg       sync.WaitGroup
}

// Write loses what a member says while the link is mute.
func (v voice) Write(b []byte) (int, error) {
	if v.mute.Load() {
		return len(b), nil
	}
	return v.Conn.Write(b)
}

type voice struct {
	net.Conn
	mute *atomic.Bool
}

func newLink(t *testing.T, to string) *link {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	k := &link{listener: l, to: strings.TrimPrefix(to, "http://")}
	k.wg.Go(k.accept)
	t.Cleanup(func() { l.Close(); k.set(true); k.wg.Wait() })
	return k
}

func (k *link) accept() {
	for {
		in, err := k.listener.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", k.to)
		k.mu.Lock()
		if err != nil || k.cut {
			in.Close()
			if err == nil {
				out.Close()
			}
		} else {
			k.open = append(k.open, in, out)
			k.wg.Go(func() { _, _ = io.Copy(voice{in, &k.mute}, out); in.Close(); out.Close() })
			k.wg.Go(func() { _, _ = io.Copy(out, in); in.Close(); out.Close() })
		}
		k.mu.Unlock()
	}
}

func (k *link) set(cut bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.cut = cut
	for _, c := range k.open {
		if cut {
			c.Close()
		}
	}
}

// A controller that was away while keys were deleted and the cluster forgot how builds its
// projection again, and says so to who follows it.
func TestCompactedWhileAway(t *testing.T) {
	t.Parallel()
	endpoint := harness.Etcd(t)
	way := newLink(t, endpoint)
	o := Options{Endpoints: []string{endpoint}, Prefix: fmt.Sprintf("ctl-away/%d/", os.Getpid())}
	there := openAt(t, o)
	o.Endpoints = []string{"http://" + way.listener.Addr().String()}
	away := openAt(t, o)
	ctx := context.Background()
	commit := func(ops ...datastore.Op) datastore.Revision {
		t.Helper()
		rev, err := there.Commit(ctx, datastore.Txn{Ops: ops})
		if err != nil {
			t.Fatal(err)
		}
		return rev
	}
	start := commit(datastore.Put("n", "gone", nil), datastore.Put("n", "changed", []byte("1")), datastore.Put("n", "kept", nil))
	if _, err := away.Barrier(ctx); err != nil {
		t.Fatal(err)
	}
	watched := make(chan error, 1)
	go func() {
		watched <- away.Watch(ctx, start, []datastore.Prefix{{Namespace: "n"}}, func(b datastore.Batch) error {
			if len(b.Events) > 0 {
				t.Errorf("a part of the changes was delivered: %+v", b)
			}
			return nil
		})
	}()
	way.set(true)
	commit(datastore.Delete("n", "gone"))
	commit(datastore.Put("n", "changed", []byte("2")))
	last := commit(datastore.Put("n", "new", nil))
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Compact(ctx, int64(last)); err != nil {
		t.Fatal(err)
	}
	way.set(false)
	harness.Within(t, "the controller is back", func() bool { _, err := away.Barrier(ctx); return err == nil })
	if err := <-watched; !errors.Is(err, datastore.ErrCompacted) {
		t.Errorf("the watch ended with %v", err)
	}
	var a, b string
	if err := errors.Join(
		there.View(ctx, func(sn datastore.Snapshot) error { a = dump(t, sn); return nil }),
		away.View(ctx, func(sn datastore.Snapshot) error { b = dump(t, sn); return nil })); err != nil {
		t.Fatal(err)
	}
	if a != b || strings.Contains(b, "gone") {
		t.Errorf("the projection is\n%swant\n%s", b, a)
	}
}
