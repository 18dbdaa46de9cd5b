package server

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"ctl.internal/host/internal/home"
)

// How often a start that found the disk full looks for room, and how often it tries
// although there is no more of it than before.
const (
	roomPoll  = 500 * time.Millisecond
	roomRetry = 30 * time.Second
)

// waitForRoom says that the disk is full and what to free, and returns true when there is
// more room than there was. The admin listener answers meanwhile.
func waitForRoom(ctx context.Context, o Options, cause error) bool {
	dir := home.Dir(o.Home)
	if abs, err := filepath.Abs(o.Home); err == nil {
		dir = home.Dir(abs)
	}
	why := newReason(
		"disk",
		fmt.Sprintf("the controller does not start because the disk of %s is full: %v", dir, cause),
		diskRemedy(dir),
	)
	fmt.Fprintf(
		o.Stderr,
		"ctld: %s\nctld: %s; the controller starts by itself when there is room\n",
		why.Why,
		why.Remedy,
	)
	stop := serveWaiting(dir, o, why)
	defer stop()
	before, _ := freeOn(string(dir))
	poll := time.NewTicker(roomPoll)
	defer poll.Stop()
	began, printed := time.Now(), time.Time{}
	for {
		if time.Since(printed) > 10*time.Second {
			printed = time.Now()
			_ = notifySystemd("EXTEND_TIMEOUT_USEC=60000000\nSTATUS=waiting for room on the disk of " + string(dir))
		}
		select {
		case <-ctx.Done():
			return false
		case <-poll.C:
		}
		free, err := freeOn(string(dir))
		if err != nil || free > before+1<<20 || time.Since(began) > roomRetry {
			return true
		}
		before = min(before, free)
	}
}

// serveWaiting opens the admin listener for a controller that waits.
func serveWaiting(dir home.Dir, o Options, why reason) (stop func()) {
	loaded, problems := home.Load(dir, os.Environ(), o.Flags)
	if home.Fatal(problems) != nil || loaded.Listeners.Admin.IsOff() {
		return func() {}
	}
	ln, err := net.Listen("tcp", string(loaded.Listeners.Admin))
	if err != nil {
		fmt.Fprintln(o.Stderr, "ctld: the admin listener does not open meanwhile:", err)
		return func() {}
	}
	// A full disk may have a few bytes for the address; a fixed port needs none.
	_ = home.WriteFile(dir.Run("admin.addr"), []byte(ln.Addr().String()+"\n"), 0o600)
	srv := &http.Server{
		Handler: adminHandler(func(context.Context) []reason {
			return []reason{why}
		}, prometheus.NewRegistry()),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      10 * time.Second,
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(ln)
	}()
	fmt.Fprintf(o.Stderr, "ctld: http://%s/readyz answers meanwhile\n", ln.Addr())
	return func() {
		_ = srv.Close()
		<-done
		_ = os.Remove(dir.Run("admin.addr"))
	}
}

// diskRemedy says what is there to free.
func diskRemedy(dir home.Dir) string {
	type part struct {
		path string
		size int64
	}
	var parts []part
	for _, p := range []string{dir.Log(), dir.Path("backups"), dir.Data("plugins"), dir.Path("plugins"), dir.Path("export"), dir.Path("import"), dir.Store()} {
		if n := sizeOf(p); n >= 1<<20 {
			parts = append(parts, part{p, n})
		}
	}
	slices.SortFunc(parts, func(a, b part) int { return int((b.size - a.size) >> 20) })
	var texts []string
	for _, p := range parts {
		text := fmt.Sprintf("%s has %d MiB", p.path, p.size>>20)
		if p.path == dir.Store() {
			text += " (the data itself: leave it)"
		}
		texts = append(texts, text)
	}
	if len(texts) == 0 {
		return fmt.Sprintf(
			"free %d MiB on that disk: the home itself has nothing large",
			roomNeeded>>20,
		)
	}
	return fmt.Sprintf(
		"free %d MiB on that disk, or make it larger; in the home, %s",
		roomNeeded>>20,
		strings.Join(texts, ", "),
	)
}

// sizeOf is what the files below a directory take on the disk.
func sizeOf(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what cannot be read cannot be freed by this user either
		}
		if info, err := d.Info(); err == nil && !d.IsDir() {
			if st, ok := info.Sys().(*syscall.Stat_t); ok {
				n += st.Blocks * 512
			}
		}
		return nil
	})
	return n
}

// freeOn is how many bytes this user may still write on the file system of a directory, or
// of the nearest one above that is there.
func freeOn(dir string) (int64, error) {
	var st syscall.Statfs_t
	err := syscall.Statfs(dir, &st)
	for err == syscall.ENOENT && dir != "/" && dir != "." {
		dir = filepath.Dir(dir)
		err = syscall.Statfs(dir, &st)
	}
	return int64(st.Bavail) * int64(st.Bsize), err
}
