package inventory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/sdk/fault"
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

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func TestLoad(t *testing.T) {
	v, dir := New(nil), t.TempDir()
	path := filepath.Join(dir, "list.csv")
	write(t, path, 2)
	if l, err := v.LoadFirst(t.Context(), []string{filepath.Join(dir, "none.csv"), path}); err != nil || l.Switches != 2 || l.Path != path {
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
		if _, err := v.Load(t.Context(), path); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), path) || v.Last().Path == path {
			t.Errorf("%s: %v, %+v", path, err, v.Last())
		}
	}
	for name, path := range map[string]string{"empty": empty, "broken": broken, "not there": filepath.Join(dir, "none.csv"), "a folder": dir} {
		if _, err := v.Load(t.Context(), path); err == nil || len(v.All()) != 2 {
			t.Errorf("%s: %v, %d switches are left", name, err, len(v.All()))
		}
	}
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		if s := fmt.Sprintf(format, v.Entries()); strings.Contains(s, "secret") {
			t.Errorf("%s shows a secret: %s", format, s)
		}
	}
}

// The file is followed: changed, replaced, removed and put back.
func TestFollow(t *testing.T) {
	v, dir := New(nil), t.TempDir()
	path := filepath.Join(dir, "list.csv")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	done := make(chan error, 1)
	changed := v.Changed()
	go func() { done <- v.Follow(ctx, []string{filepath.Join(dir, "first.csv"), path}, quiet()) }()
	await := func(switches int) {
		t.Helper()
		for {
			select {
			case <-changed:
			case <-ctx.Done():
				t.Fatalf("not noticed; there are %d switches, want %d", len(v.All()), switches)
			}
			changed = v.Changed()
			if n := len(v.All()); n == 5 {
				t.Fatal("a list that is not in use was loaded")
			}
			if len(v.All()) == switches {
				return
			}
		}
	}
	// The watch begins some time after Follow is called: write until it is noticed.
	for noticed := false; !noticed; {
		write(t, path, 1)
		select {
		case <-changed:
			noticed = true
		case <-time.After(settle / 3):
		}
	}
	changed = v.Changed()
	write(t, path, 3)
	await(3)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	write(t, path, 2)
	await(2)
	other := filepath.Join(t.TempDir(), "other.csv")
	write(t, other, 4)
	if _, err := v.Load(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	await(4)
	write(t, path, 5) // not in use any more
	write(t, other, 6)
	await(6)
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
