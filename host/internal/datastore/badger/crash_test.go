package badger

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"ctl.internal/host/internal/datastore"
)

const (
	childEnv    = "CTL_TEST_STORE_CHILD"
	childWrites = 1000
	childKeys   = 100_000
)

// sizeEnv is how large the values of the child are, beside their number.
const sizeEnv = "CTL_TEST_STORE_SIZE"

// child writes for ever from several goroutines and prints the number of each
// write once it is acknowledged.
func child(dir string) {
	size, _ := strconv.Atoi(os.Getenv(sizeEnv))
	filler := strings.Repeat(" ", size)
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
				op := datastore.Put("n", strconv.Itoa(i%childKeys), []byte(strconv.Itoa(i)+filler))
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

// Killed again and again while Badger writes and merges tables, the store opens each time
// with everything, and takes a bounded part of the disk.
func TestKillsWhileTablesAreWritten(t *testing.T) {
	t.Setenv(sizeEnv, strconv.Itoa(200<<10))
	dir := filepath.Join(t.TempDir(), "store")
	for round := range 2 {
		acked := runAndKill(t, dir, 350)
		s, err := Open(Options{Dir: dir, History: 10})
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		for i := range acked {
			e, err := datastore.Get(context.Background(), s, "n", strconv.Itoa(i))
			if err != nil || strings.TrimSpace(string(e.Value)) != strconv.Itoa(i) {
				t.Errorf("round %d: acknowledged write %d: %.20q, %v", round, i, e.Value, err)
			}
		}
		if round == 1 {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			continue
		}
		// The next child finds a store that did not end in order.
		s.Projection.Close()
		s.owned.Wait()
		if err := errors.Join(s.db.Close(), s.tip.close(), s.lock.Close()); err != nil {
			t.Fatal(err)
		}
	}
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
