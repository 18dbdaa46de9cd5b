package report

import (
	"encoding/json"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"ctl.internal/plugins/repoinfo/clones"
	"ctl.internal/plugins/repoinfo/counts"
	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/plugins/repoinfo/gittest"
	"ctl.internal/plugins/repoinfo/history"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s: %s", name, diff)
	}
}

func TestReportOfAllProjects(t *testing.T) {
	dir := t.TempDir()
	gittest.Zoo(t, filepath.Join(dir, "zoo.git"))
	gittest.Zoo(t, filepath.Join(dir, "other", "zoo.git"))
	gittest.New(t, filepath.Join(dir, "empty.git"))
	folder, err := clones.NewFolder(dir, &gitcmd.Git{})
	if err != nil {
		t.Fatal(err)
	}
	store := counts.NewStore(t.TempDir(), 1<<20, slog.New(slog.DiscardHandler))
	defer store.Close()
	m := Maker{Folder: folder, Lister: &history.Lister{Counts: store, MessageLimit: 1 << 20}, Skip: true, Timeout: time.Minute}
	steps := 0
	r, err := m.Make(t.Context(), "master", "u", nil, func(int, int) { steps++ })
	if err != nil || len(r.Failed) != 3 || steps != 3 {
		t.Errorf("unrelated references: %+v, %v, %d steps", r, err, steps)
	}
	r, err = m.Make(t.Context(), "master", "two", nil, func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "two-to-master.json", append(data, '\n'))
	golden(t, "two-to-master.txt", []byte(r.Text()))
}

func TestCoAuthors(t *testing.T) {
	got := coAuthors([]byte("Subject\n\nco-authored-by: A <A@x.org>\nAlso-By: b@y.org\nAlso-By: nobody\n text Also-By: c@z.org\nAlso-By: a@X.org\n"))
	if diff := cmp.Diff([]string{"a@x.org", "b@y.org"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestZone(t *testing.T) {
	for west, want := range map[int64]string{0: "UTC+00:00", 14400: "UTC-04:00", -20700: "UTC+05:45"} {
		if got := zone(west); got != want {
			t.Errorf("%d: %s, want %s", west, got, want)
		}
	}
}
