package etcd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/test/harness"
)

// where is the number of the member that the store asks first, and that has its watch.
func where(s *Store, endpoints []string) int {
	return slices.Index(endpoints, s.members.preferred.Load().endpoint)
}

// works writes and reads once. Each call has the limit of the store, no second try.
func works(t *testing.T, s *Store, value string) {
	t.Helper()
	begun := time.Now()
	if _, err := s.Commit(context.Background(), datastore.Txn{Ops: []datastore.Op{datastore.Put("n", "k", []byte(value))}}); err != nil {
		t.Fatalf("a write after %v: %v", time.Since(begun), err)
	}
	e, err := datastore.Get(context.Background(), s, "n", "k")
	if err != nil || string(e.Value) != value {
		t.Fatalf("a read after %v: %q, %v; want %q", time.Since(begun), e.Value, err, value)
	}
	t.Logf("%q was written and read within %v", value, time.Since(begun))
}

// As long as etcd has its majority, a member that is killed, frozen or mute stops neither
// reads nor writes nor leases, whether it leads, has the watch, or both; it stays so.
func TestAMemberThatHangsStopsNobody(t *testing.T) {
	t.Parallel()
	members, real := cluster(t)
	var links []*link
	var endpoints []string
	for _, to := range real {
		l := newLink(t, to)
		links, endpoints = append(links, l), append(endpoints, "http://"+l.listener.Addr().String())
	}
	for _, way := range []struct {
		name      string
		hang, end func(i int)
	}{
		{"killed", func(i int) { members[i].Kill() }, func(i int) { members[i].Start() }},
		{"frozen", func(i int) { members[i].Signal(syscall.SIGSTOP) }, func(i int) { members[i].Signal(syscall.SIGCONT) }},
		{"mute", func(i int) { links[i].mute.Store(true) }, func(i int) { links[i].set(true); links[i].mute.Store(false); links[i].set(false) }},
	} {
		t.Run(way.name, func(t *testing.T) {
			s := openAt(t, Options{Endpoints: endpoints, Prefix: "ctl-" + way.name + "/"})
			works(t, s, "before")
			lease, err := s.Grant(context.Background(), time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			at := where(s, endpoints)
			way.hang(at)
			works(t, s, "while it hangs")
			if _, err := s.Renew(context.Background(), lease); err != nil {
				t.Errorf("the lease: %v", err)
			}
			if where(s, endpoints) == at {
				t.Error("the member that hangs is still asked first")
			}
			works(t, s, "again")
			way.end(at)
			harness.Within(t, "all members are there", func() bool { return members[at].Healthy() })
			works(t, s, "after")
		})
	}
}

// The member with the watch is killed, and the next one is stopped for a while: when etcd
// has its majority again, so has the controller, without the first one.
func TestTheNextMemberHangsAsWell(t *testing.T) {
	t.Parallel()
	members, endpoints := cluster(t)
	s := openAt(t, Options{Endpoints: endpoints, Prefix: "ctl/"})
	works(t, s, "before")
	first := where(s, endpoints)
	members[first].Kill()
	works(t, s, "without the first")
	next := where(s, endpoints)
	members[next].Signal(syscall.SIGSTOP)
	if err := s.View(context.Background(), func(datastore.Snapshot) error { return nil }); err == nil {
		t.Error("one of three members is taken for a majority")
	}
	members[next].Signal(syscall.SIGCONT)
	begun := time.Now()
	harness.Within(t, "it is served again", func() bool {
		_, err := s.Barrier(context.Background())
		return err == nil
	})
	t.Logf("served again %v after etcd had its majority, or less", time.Since(begun))
	works(t, s, "with the second")
}

// A cluster that is compacted to its newest revision and defragmented without pause loses
// nothing and is followed.
func TestCompactedAndDefragmentedInALoop(t *testing.T) {
	t.Parallel()
	_, endpoints := cluster(t)
	s := openAt(t, Options{Endpoints: endpoints, Prefix: "ctl/"})
	other := openAt(t, Options{Endpoints: endpoints, Prefix: "ctl/"})
	c, err := clientv3.New(clientv3.Config{Endpoints: endpoints})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		var rounds int
		for ; ctx.Err() == nil; rounds++ {
			r, err := c.Get(ctx, "x")
			if err == nil {
				_, _ = c.Compact(ctx, r.Header.Revision)
			}
			_, _ = c.Defragment(ctx, endpoints[rounds%len(endpoints)])
		}
		if rounds < 3 {
			ended <- fmt.Errorf("only %d rounds", rounds)
		}
		ended <- nil
	}()
	var want []string
	for i := range 200 {
		key := fmt.Sprint("k", i)
		if _, err := s.Commit(context.Background(), datastore.Txn{Ops: []datastore.Op{datastore.Put("n", key, []byte("x"))}}); err != nil {
			t.Fatal(err)
		}
		want = append(want, key)
		if e, err := datastore.Get(context.Background(), other, "n", key); err != nil || string(e.Value) != "x" {
			t.Fatalf("another controller reads %q, %v", e.Value, err)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	slices.Sort(want)
	err = other.View(context.Background(), func(sn datastore.Snapshot) error {
		var got []string
		for e, err := range sn.Range("n", datastore.RangeOptions{}) {
			if err != nil {
				return err
			}
			got = append(got, e.Key)
		}
		if !slices.Equal(got, want) {
			return errors.New("it has " + strings.Join(got, " "))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Each member says for itself whether it is there, leads, and how it was started.
func TestMembersSayHowTheyAre(t *testing.T) {
	t.Parallel()
	members, endpoints := cluster(t)
	s := openAt(t, Options{Endpoints: endpoints, Prefix: "ctl/"})
	leaders, old := 0, 0
	for _, m := range s.Members(t.Context()) {
		if m.Err != nil || !m.Led || m.Version == "" {
			t.Errorf("%+v", m)
		}
		if m.Leads {
			leaders++
		}
		if strings.HasPrefix(m.Version, "3.4.") {
			old++
			if !strings.Contains(m.Note, "--pre-vote") {
				t.Errorf("of %s without pre-vote it says %q", m.Version, m.Note)
			}
		} else if m.Note != "" {
			t.Errorf("of %s it says %q", m.Version, m.Note)
		}
	}
	if leaders != 1 {
		t.Errorf("%d members lead", leaders)
	}
	members[1].Kill()
	members[2].Kill()
	harness.Within(t, "the one that is left has no leader", func() bool {
		all := s.Members(t.Context())
		return all[0].Err == nil && !all[0].Led && all[1].Err != nil && all[2].Err != nil
	})
}

func TestThePreVoteFlag(t *testing.T) {
	for line, want := range map[string][2]bool{
		"etcd":                             {false, false},
		"etcd --pre-vote":                  {true, true},
		"etcd -pre-vote=true --name a":     {true, true},
		"etcd --pre-vote=false":            {false, true},
		"etcd --pre-vote --pre-vote=false": {false, true},
		"etcd pre-vote":                    {false, false},
	} {
		if on, found := preVoteFlag(strings.Fields(line)); [2]bool{on, found} != want {
			t.Errorf("%q: %v, %v", line, on, found)
		}
	}
}
