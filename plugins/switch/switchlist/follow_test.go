package switchlist

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/state"
)

// node is the list of a process of another node than opened's.
func node(t *testing.T, h *plugintest.Host, name string) *Database {
	d := opened(t, h)
	d.Source = name
	return d
}

// follow has a node follow the file until the test ends or the returned function is called. Each look is sent.
func follow(t *testing.T, d *Database, looked func()) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.store.Role(ctx, "role", func(ctx context.Context, term *state.Term) {
			if err := d.Follow(ctx, term, discard(), looked); err != nil {
				t.Error(err)
			}
		})
	}()
	stop = func() {
		cancel()
		<-done
	}
	t.Cleanup(stop)
	return stop
}

// await waits until a node has a list of so many switches.
func await(t *testing.T, d *Database, switches int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for changed := d.Changed(); len(d.All()) != switches; changed = d.Changed() {
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("there are %d switches, want %d", len(d.All()), switches)
		}
	}
}

// looks counts the looks at the file.
func looks() (looked func(), next func(t *testing.T)) {
	c := make(chan struct{}, 1000)
	return func() { c <- struct{}{} }, func(t *testing.T) {
		t.Helper()
		select {
		case <-c:
		case <-time.After(time.Minute):
			t.Fatal("the file is not looked at")
		}
	}
}

// The list is another file's already when the follower has looked at the one before, and that file was written before
// its directory was watched.
func TestFollowTheNextFile(t *testing.T) {
	for _, source := range []string{"here", "there"} {
		t.Run("read by "+source, func(t *testing.T) {
			h := plugintest.NewHost(t)
			v, other := opened(t, h), node(t, h, source)
			path := filepath.Join(t.TempDir(), "other.csv")
			once := true
			follow(t, v, func() {
				if !once {
					return
				}
				once = false
				write(t, path, 4)
				if _, err := other.File(t.Context(), path); err != nil {
					t.Error(err)
				}
				await(t, v, 4)
				write(t, path, 6)
			})
			await(t, other, 6)
		})
	}
}

// A change counts whatever the times of the file are, and whatever the clock of the node that read it before.
func TestFollowIgnoresTimes(t *testing.T) {
	for name, at := range map[string]time.Time{"long ago": time.Unix(1000, 0), "to come": time.Now().Add(1000 * time.Hour)} {
		t.Run(name, func(t *testing.T) {
			h := plugintest.NewHost(t)
			v, other := opened(t, h), node(t, h, "there")
			looked, next := looks()
			follow(t, v, looked)
			next(t)
			path := filepath.Join(t.TempDir(), "list.csv")
			put := func(switches int) {
				t.Helper()
				write(t, path+".at", switches)
				if err := os.Chtimes(path+".at", at, at); err != nil {
					t.Fatal(err)
				}
				if err := os.Rename(path+".at", path); err != nil {
					t.Fatal(err)
				}
			}
			put(2)
			if _, err := other.File(t.Context(), path); err != nil {
				t.Fatal(err)
			}
			for _, n := range []int{3, 2, 5} {
				put(n)
				await(t, v, n)
			}
		})
	}
}

// What another node read is not replaced by another file of that name here, until that one changes; also if it has
// changed while another node held the role, and in a process that has begun since.
func TestFollowAnotherFileOfThatName(t *testing.T) {
	h := plugintest.NewHost(t)
	other := node(t, h, "there")
	path := filepath.Join(t.TempDir(), "list.csv")
	write(t, path, 1)
	if _, err := other.File(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	write(t, path, 2) // the file of this node
	v := opened(t, h)
	looked, next := looks()
	stop := follow(t, v, looked)
	next(t)
	if n := len(v.All()); n != 1 {
		t.Fatalf("%d switches: the file of that name was loaded", n)
	}
	stop()
	write(t, path, 3)
	again := opened(t, h)
	follow(t, again, func() {})
	await(t, again, 3)
}

// A node that does not hold the role notes its file, so that it knows a change when it does.
func TestNoteFiles(t *testing.T) {
	h := plugintest.NewHost(t)
	v, other := opened(t, h), node(t, h, "there")
	path := filepath.Join(t.TempDir(), "list.csv")
	write(t, path, 2)
	if _, err := other.File(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	await(t, v, 2)
	if err := v.noteFile(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	write(t, path, 4)
	follow(t, v, func() {})
	await(t, v, 4)
}
