package server

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/home"
	"ctl.internal/sdk/fault"
)

// /readyz names the part that is missing, why, and what to do.
func TestReadyNamesWhatIsMissing(t *testing.T) {
	loaded := &home.Loaded{Config: home.Default()}
	loaded.Datastore.Engine, loaded.Datastore.Shared = "etcd", true
	loaded.Datastore.Etcd.Endpoints = []string{"http://127.0.0.1:2379"}
	s := &Server{home: home.Dir(t.TempDir()), loaded: loaded, store: datastore.Bound(away{Store: newStore(t)}, 5*time.Millisecond)}
	h := adminHandler(s.storeReasons, prometheus.NewRegistry())
	ask := func() (int, []reason) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/readyz", nil))
		var body struct {
			Ready   bool
			Reasons []reason
		}
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || body.Ready != (w.Code == 200) {
			t.Fatalf("%d %s: %v", w.Code, w.Body, err)
		}
		return w.Code, body.Reasons
	}
	if code, why := ask(); code != 503 || len(why) != 1 || why[0].What != "quorum" || !strings.Contains(why[0].Remedy, "127.0.0.1:2379") {
		t.Errorf("without a cluster: %d %+v", code, why)
	}
	s.store = newStore(t)
	if code, why := ask(); code != 200 || len(why) != 0 {
		t.Errorf("with one: %d %+v", code, why)
	}
	loaded.Datastore.Engine, loaded.Datastore.Shared = "badger", false
	if code, why := ask(); code != 503 || why[0].What != "store" {
		t.Errorf("a store that was removed: %d %+v", code, why)
	}
}

// A full disk is known by what can be freed.
func TestTheRemedyOfAFullDiskNamesWhatIsLarge(t *testing.T) {
	dir := home.Dir(t.TempDir())
	if err := os.MkdirAll(dir.Log(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir.Log("ctl.log"), make([]byte, 3<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if text := diskRemedy(dir); !strings.Contains(text, filepath.Join(string(dir), "log")+" has 3 MiB") {
		t.Error(text)
	}
	for _, err := range []error{syscall.ENOSPC, &os.PathError{Op: "write", Err: syscall.EDQUOT}, fault.Wrap(fault.Unavailable, datastore.ErrFull, "x")} {
		if !isFull(err) {
			t.Errorf("%v is a full disk", err)
		}
	}
	if free, err := freeOn(dir.Path("not/there/yet")); err != nil || free <= 0 {
		t.Errorf("%d, %v", free, err)
	}
}
