package badger

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"ctl.internal/host/internal/datastore"
)

const (
	childEnv    = "CTL_TEST_STORE_CHILD"
	childWrites = 1000
)

// child writes for ever from several goroutines and prints the number of each
// write once it is acknowledged.
func child(dir string) {
	s, err := Open(Options{Dir: dir})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := w; ; i += 8 {
				op := datastore.Put("n", strconv.Itoa(i), []byte(strconv.Itoa(i)))
				if _, err := s.Commit(context.Background(), datastore.Txn{Ops: []datastore.Op{op}}); err != nil {
					return
				}
				mu.Lock()
				fmt.Println(i)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

// TestKillLosesNoAcknowledgedWrite kills a writing process with SIGKILL.
func TestKillLosesNoAcknowledgedWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	acked := runAndKill(t, dir, childWrites)
	s := openAt(t, dir, 0)
	for i := range acked {
		e, err := datastore.Get(context.Background(), s, "n", strconv.Itoa(i))
		if err != nil || string(e.Value) != strconv.Itoa(i) {
			t.Errorf("acknowledged write %d: %q, %v", i, e.Value, err)
		}
	}
	t.Logf("%d acknowledged writes, all there; revision %d", len(acked), s.Revision())
	put(t, s, "after", "1")
}

// runAndKill returns the writes that the child acknowledged before it died.
func runAndKill(t *testing.T, dir string, atLeast int) map[int]bool {
	t.Helper()
	cmd := self(dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	acked := map[int]bool{}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			continue // the last line may be cut
		}
		acked[n] = true
		if len(acked) == atLeast {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // killed
	if len(acked) < atLeast {
		t.Fatalf("the child acknowledged %d writes, want %d", len(acked), atLeast)
	}
	return acked
}
