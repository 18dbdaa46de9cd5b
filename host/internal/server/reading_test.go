package server

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/sdk/fault"
)

// away is a store without its cluster: nobody says what is newest, and what is sent is
// never answered.
type away struct {
	datastore.Store
	age time.Duration
}

func (a away) Barrier(ctx context.Context) (datastore.Revision, error) {
	<-ctx.Done()
	return 0, ctx.Err()
}

func (a away) View(ctx context.Context, _ func(datastore.Snapshot) error) error {
	_, err := a.Barrier(ctx)
	return err
}

func (a away) Local(f func(datastore.Snapshot) error) (time.Duration, error) {
	_, err := a.Store.Local(f)
	return a.age, err
}

func (a away) Commit(ctx context.Context, t datastore.Txn) (datastore.Revision, error) {
	<-ctx.Done()
	return 0, ctx.Err()
}

// patience is for what must come; what does not come at all is waited for hasty.
const patience, hasty = time.Minute, 500 * time.Millisecond

func newStore(t *testing.T) datastore.Store {
	s := storetest.New(storetest.Options{})
	t.Cleanup(func() { s.Close() })
	return s
}

func commit(t *testing.T, s datastore.Store, key string) datastore.Revision {
	t.Helper()
	rev, err := s.Commit(t.Context(), datastore.Txn{Ops: []datastore.Op{datastore.Put("test", key, []byte("v"))}})
	if err != nil {
		t.Fatal(err)
	}
	return rev
}

func fetch(t *testing.T, h http.Handler, wait time.Duration, method string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	r := httptest.NewRequestWithContext(ctx, method, "/restconf/config", nil)
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// A client that carries the revision of an answer sees on any node what it has written.
func TestARequestWaitsForTheRevisionOfAnAnswer(t *testing.T) {
	s := &Server{store: newStore(t), clusterID: "lab"}
	commit(t, s.store, "a")
	h := s.serveReadHeaders(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			commit(t, s.store, "b")
		}
	}))
	wrote := fetch(t, h, patience, http.MethodPut).Header().Get("Ctl-Revision")
	if wrote != "lab.2" {
		t.Fatalf("the answer to a write has the revision %q", wrote)
	}
	if w := fetch(t, h, patience, http.MethodGet, "Ctl-Revision: "+wrote); w.Code != 200 || w.Header().Get("Ctl-Revision") != "" {
		t.Errorf("what is here: %d %v", w.Code, w.Header())
	}
	arrives := time.AfterFunc(20*time.Millisecond, func() { commit(t, s.store, "c") })
	defer arrives.Stop()
	if w := fetch(t, h, patience, http.MethodGet, "Ctl-Revision: lab.3"); w.Code != 200 || s.store.Revision() < 3 {
		t.Errorf("what arrives: %d %s", w.Code, w.Body)
	}
	for header, want := range map[string]int{"lab.99": 503, "other.1": 412, "lab": 400, "lab.x": 400, ".5": 400} {
		w := fetch(t, h, hasty, http.MethodGet, "Ctl-Revision: "+header)
		if w.Code != want || want == 503 && w.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %d %v %s, want %d", header, w.Code, w.Header(), w.Body, want)
		}
	}
}

// Without its cluster a controller answers those who ask for what it knows, and says how
// old that is.
func TestLocalReadsSayTheirAge(t *testing.T) {
	store := newStore(t)
	commit(t, store, "a")
	s := &Server{store: datastore.Bound(away{store, 1500 * time.Millisecond}, 10*time.Millisecond)}
	h := s.serveReadHeaders(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := datastore.Read(r.Context(), s.store, func(sn datastore.Snapshot) error {
			_, err := sn.Get("test", "a")
			return err
		})
		if err != nil {
			refuseRoute(w, err)
		}
	}))
	w := fetch(t, h, patience, http.MethodGet, "Ctl-Read: local")
	if w.Code != 200 || w.Header().Get("Age") != "2" || w.Header().Get("Ctl-Node") == "" {
		t.Errorf("local: %d %v", w.Code, w.Header())
	}
	if w := fetch(t, h, patience, http.MethodGet); w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("default: %d %v %s", w.Code, w.Header(), w.Body)
	}
	if w := fetch(t, h, patience, http.MethodGet, "Ctl-Read: fast"); w.Code != 400 {
		t.Errorf("fast: %d", w.Code)
	}
}

// A write is refused within the limit when nobody answers, and says that it may have
// been made.
func TestAWriteThatNobodyAnswersIsCutOff(t *testing.T) {
	s := datastore.Bound(away{Store: newStore(t)}, 10*time.Millisecond)
	ctx, cancel := context.WithCancel(t.Context()) // ends the commit at last
	defer cancel()
	_, err := s.Commit(ctx, datastore.Txn{Ops: []datastore.Op{datastore.Put("test", "a", nil)}})
	if fault.KindOf(err) != fault.Timeout {
		t.Errorf("got %v", err)
	}
}

// Two controllers on one store agree on its name.
func TestTheNameOfAStoreIsMadeOnce(t *testing.T) {
	store := newStore(t)
	a, b := &Server{store: store}, &Server{store: store}
	for _, s := range []*Server{a, b} {
		if err := s.openStoreID(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if a.clusterID == "" || a.clusterID != b.clusterID {
		t.Errorf("%q and %q", a.clusterID, b.clusterID)
	}
}

// Access control of a read that asks for what this node knows is content with that, too; of
// a write it is not.
func TestAccessControlOfLocalReads(t *testing.T) {
	asked := false
	h := askedLocally(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked = datastore.AsksLocal(r.Context()) }))
	for _, c := range []struct {
		method, header string
		want           bool
	}{
		{http.MethodGet, "Ctl-Read: local", true},
		{http.MethodHead, "Ctl-Read: local", true},
		{http.MethodGet, "Ctl-Read: newest", false},
		{http.MethodPost, "Ctl-Read: local", false},
		{http.MethodDelete, "Ctl-Read: local", false},
	} {
		if fetch(t, h, patience, c.method, c.header); asked != c.want {
			t.Errorf("%s with %s asks for local data: %v", c.method, c.header, asked)
		}
	}
}
