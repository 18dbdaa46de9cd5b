package conformance

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/badger"
	"ctl.internal/host/internal/datastore/etcd"
	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/test/harness"
)

func TestMain(m *testing.M) {
	// Badger's allocator pool keeps a collector for the life of the process.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/dgraph-io/ristretto/v2/z.(*AllocatorPool).freeupAllocators"))
}

func TestMemory(t *testing.T) {
	Run(t, func(_ *testing.T, history int) datastore.Store {
		return storetest.New(storetest.Options{History: history})
	})
}

func TestBadger(t *testing.T) {
	Run(t, func(t *testing.T, history int) datastore.Store {
		s, err := badger.Open(badger.Options{Dir: t.TempDir(), History: history})
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}

func TestEtcd(t *testing.T) {
	endpoint := harness.Etcd(t)
	var n atomic.Int64
	Run(t, func(t *testing.T, history int) datastore.Store {
		return openEtcd(t, etcd.Options{Endpoints: []string{endpoint}, History: history, Timeout: time.Minute,
			Prefix: fmt.Sprintf("ctl-test/%d/%d/", os.Getpid(), n.Add(1))})
	})
}

func openEtcd(t *testing.T, o etcd.Options) datastore.Store {
	t.Helper()
	s, err := etcd.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// leader is the member that leads.
func leader(t *testing.T, members []*harness.EtcdMember) *harness.EtcdMember {
	t.Helper()
	found := -1
	harness.Within(t, "the cluster has a leader", func() bool {
		found = slices.IndexFunc(members, (*harness.EtcdMember).Leader)
		return found >= 0
	})
	return members[found]
}

// Three controllers, each beginning at another member, work while members are killed,
// frozen and started again. There is one order of all operations that explains every
// answer, so nothing acknowledged is lost and nothing is read that is out of date.
func TestMembersThatDieAndFreeze(t *testing.T) {
	t.Parallel()
	members := harness.EtcdCluster(t, 3)
	var endpoints []string
	for _, m := range members {
		endpoints = append(endpoints, m.Client)
	}
	var stores []datastore.Store
	for i := range endpoints {
		stores = append(stores, openEtcd(t, etcd.Options{Endpoints: append(endpoints[i:len(endpoints):len(endpoints)], endpoints[:i]...), Prefix: "ctl/"}))
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		pause := func(d time.Duration) bool { // faults last as long as they do
			select {
			case <-stop:
				return false
			case <-time.After(d):
				return true
			}
		}
		for n := 0; pause(2 * time.Second); n++ {
			m := leader(t, members)
			if n%2 == 0 {
				m.Signal(syscall.SIGSTOP)
				pause(4 * time.Second)
				m.Signal(syscall.SIGCONT)
			} else {
				m.Kill()
				pause(2 * time.Second)
				m.Start()
			}
		}
	})
	Linearizable(t, Load{Clients: 6, Operations: 120, Pause: 100 * time.Millisecond, Seed: 7}, stores...)
	close(stop)
	wg.Wait()
	states := map[string]bool{}
	for _, s := range stores {
		harness.Within(t, "the cluster answers again", func() bool {
			_, err := s.Barrier(context.Background())
			return err == nil
		})
	}
	for _, s := range stores {
		if err := s.View(context.Background(), func(sn datastore.Snapshot) error { states[dump(t, sn)] = true; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if len(states) != 1 {
		t.Errorf("the projections differ: %v", states)
	}
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
