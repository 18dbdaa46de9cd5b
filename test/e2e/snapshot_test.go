package e2e

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"ctl.internal/test/harness"
)

// A snapshot taken under load makes a home, with both engines, that holds every user who
// was acknowledged before it began, and logs them in.
func TestASnapshotUnderLoadHoldsWhatWasAcknowledged(t *testing.T) {
	for _, engine := range []string{"badger", "etcd"} {
		t.Run(engine, func(t *testing.T) { snapshotUnderLoad(t, engine) })
	}
}

func snapshotUnderLoad(t *testing.T, engine string) {
	if engine == "etcd" {
		t.Setenv("CTL_DATASTORE_ENGINE", "etcd")
		t.Setenv("CTL_DATASTORE_ETCD_ENDPOINTS", "["+harness.Etcd(t)+"]")
		t.Setenv("CTL_DATASTORE_ETCD_PREFIX", "/snapshot-a/")
	}
	c := start(t, harness.NewHome(t))
	add := func(name string) int {
		return c.Do("POST", "/auth/v1/users", admin, fmt.Sprintf(`{"name":%q,"password":"long-enough","domainid":"sdn"}`, name)).Status
	}
	const before = 10
	for i := range before {
		if status := add(fmt.Sprintf("before-%d", i)); status != http.StatusCreated {
			t.Fatalf("user %d: %d", i, status)
		}
	}
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for w := range 2 {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
					_ = add(fmt.Sprintf("during-%d-%d", w, i))
				}
			}
		})
	}
	file := filepath.Join(filepath.Dir(c.Home), "lab.tar")
	ctl := func(home string, args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(within(t), filepath.Join(bin, "ctl"), append([]string{"--home", home, "snapshot"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("ctl snapshot %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	ctl(c.Home, "save", file)
	close(stop)
	wg.Wait()
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the snapshot: %v %v", info.Mode(), err)
	}
	c.Stop()

	home := filepath.Join(filepath.Dir(c.Home), "restored")
	if engine == "etcd" {
		t.Setenv("CTL_DATASTORE_ETCD_PREFIX", "/snapshot-b/")
	}
	if out := ctl(home, "restore", file); !strings.Contains(out, "restored") {
		t.Errorf("restore said %s", out)
	}
	r := harness.Run(t, harness.Options{Bin: bin, Home: home})
	users := r.Do("GET", "/auth/v1/users", admin, "").Body
	for i := range before {
		if !strings.Contains(users, fmt.Sprintf("before-%d@sdn", i)) {
			t.Errorf("before-%d is gone", i)
		}
	}
}
