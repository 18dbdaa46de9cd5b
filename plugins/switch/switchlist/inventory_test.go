package switchlist

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ctl.internal/plugins/switch/mib"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func write(t *testing.T, path string, switches int) {
	t.Helper()
	var b strings.Builder
	b.WriteString("MAC,IP,SNMP_Community,CLI_Username,CLI_Password,Model\n")
	for i := range switches {
		fmt.Fprintf(&b, "02:00:00:00:00:%02x,10.0.0.%d,secret-community,admin,secret-password,M\n", i+1, i+1)
	}
	tmp := path + ".new" // as editors do it: a new file takes the name
	if err := os.WriteFile(tmp, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(tmp, path); err != nil {
		t.Fatal(err)
	}
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

func manifest() *pluginv1.Manifest {
	return &pluginv1.Manifest{Name: "switch", Roles: []string{"role"}}
}

// opened is the list of one process of the plugin.
func opened(t *testing.T, h *plugintest.Host, files ...string) *Database {
	t.Helper()
	c := h.Client(t, manifest())
	d := &Database{Inventory: New(c.Secrets), Files: files, Source: "here"}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	store, err := state.Open(ctx, c, d.Views()...)
	if err != nil {
		t.Fatal(err)
	}
	d.Bind(store)
	return d
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "list.csv")
	write(t, path, 2)
	v := opened(t, plugintest.NewHost(t), filepath.Join(dir, "none.csv"), path)
	if l, err := v.Reload(t.Context()); err != nil || l.Switches != 2 || l.Path != path || v.Last().Path != path {
		t.Fatalf("%+v %v", l, err)
	}
	sw, err := v.Find(mib.MAC(0x020000000002))
	if err != nil || sw.Address != "10.0.0.2" || sw.Snmp.WriteCommunity != "secret-community" || sw.Cli.Password != "secret-password" {
		t.Errorf("%v %v", sw, err)
	}
	if _, err := v.Find(9); !errors.Is(err, &fault.Error{Kind: fault.NotFound}) || !strings.Contains(err.Error(), path) {
		t.Errorf("a switch that is not listed: %v", err)
	}
	empty, broken := filepath.Join(dir, "empty.csv"), filepath.Join(dir, "broken.csv")
	for path, text := range map[string]string{empty: "\n", broken: "MAC,IP,SNMP_Community\nzz,10.0.0.1,c\n\x00\xff\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := v.File(t.Context(), path); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), path) || v.Last().Path == path {
			t.Errorf("%s: %v, %+v", path, err, v.Last())
		}
	}
	for name, path := range map[string]string{"empty": empty, "broken": broken, "not there": filepath.Join(dir, "none.csv"), "a folder": dir} {
		if _, err := v.File(t.Context(), path); err == nil || len(v.All()) != 2 {
			t.Errorf("%s: %v, %d switches are left", name, err, len(v.All()))
		}
	}
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		if s := fmt.Sprintf(format, v.Entries()); strings.Contains(s, "secret") {
			t.Errorf("%s shows a secret: %s", format, s)
		}
	}
}

// The file is followed where the role is held: changed, replaced, removed and put back.
func TestFollow(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "list.csv")
	h := plugintest.NewHost(t)
	v, other := opened(t, h, filepath.Join(dir, "first.csv"), path), opened(t, h)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	done, looked := make(chan struct{}), make(chan struct{}, 100)
	go func() {
		defer close(done)
		v.store.Role(ctx, "role", func(ctx context.Context, term *state.Term) {
			if err := v.Follow(ctx, term, discard(), func() { looked <- struct{}{} }); err != nil {
				t.Error(err)
			}
		})
	}()
	<-looked
	await := func(switches int) {
		t.Helper()
		for changed := other.Changed(); len(other.All()) != switches; changed = other.Changed() {
			if len(other.All()) == 5 {
				t.Fatal("a list that is not in use was loaded")
			}
			select {
			case <-changed:
			case <-ctx.Done():
				t.Fatalf("not noticed; there are %d switches, want %d", len(other.All()), switches)
			}
		}
	}
	write(t, path, 1)
	await(1)
	write(t, path, 3)
	await(3)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	write(t, path, 2)
	await(2)
	elsewhere := filepath.Join(t.TempDir(), "other.csv")
	write(t, elsewhere, 4)
	if _, err := other.File(t.Context(), elsewhere); err != nil { // asked of another node
		t.Fatal(err)
	}
	await(4)
	write(t, path, 5) // not in use any more
	for len(looked) > 0 {
		<-looked
	}
	for noticed := false; !noticed; { // the folder is watched some time after the list was loaded
		write(t, elsewhere, 6)
		select {
		case <-looked:
			noticed = true
		case <-time.After(quiet * 2):
		}
	}
	await(6)
	cancel()
	<-done
}

// A list of any length is replaced whole: whoever reads sees the one before or the one
// after, and two who change it do not lose each other's entries.
func TestReplaceIsWhole(t *testing.T) {
	h := plugintest.NewHost(t)
	a, b := opened(t, h), opened(t, h)
	list := func(n, from int) (out []Entry) {
		for i := range n {
			out = append(out, Entry{MAC: mib.MAC(from + i), Address: netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), Port: 161, WriteCommunity: "secret-c"})
		}
		return out
	}
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	wg.Go(func() {
		for ctx.Err() == nil {
			if n := len(b.All()); n != 0 && n != 350 && n != 250 {
				t.Errorf("%d switches", n)
				return
			}
		}
	})
	for i := range 6 {
		if err := a.Replace(t.Context(), list(350-100*(i%2), 1+1000*i)); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	wg.Wait()
	rows := 0
	for range a.rows.All(a.store.Now(), "") {
		rows++
	}
	if rows != 250 {
		t.Errorf("%d records of 250 switches", rows)
	}
	for i := range 10 {
		d := []*Database{a, b}[i%2]
		wg.Go(func() {
			if err := d.Add(t.Context(), Entry{MAC: mib.MAC(100000 + i), Address: netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}), Port: 161}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	sn, err := a.store.Fresh(t.Context())
	if err != nil || len(a.All()) != 260 {
		t.Errorf("%d switches at %d, %v", len(a.All()), sn.Revision(), err)
	}
}
