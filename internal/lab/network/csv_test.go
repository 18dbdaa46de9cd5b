package network_test

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/internal/lab/network"
)

func TestCSV(t *testing.T) {
	for _, v3 := range []bool{false, true} {
		n := start(t, network.Options{Topology: "chain:2", V3: v3, Models: []string{"D-Link_DGS-3650", "generic"}})
		path := filepath.Join(t.TempDir(), "switches.csv")
		if err := n.WriteCSV(path); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		rows, err := csv.NewReader(f).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		port := strconv.Itoa(int(n.Nodes()[0].Server.Addr().Port()))
		want := []string{"02:00:00:00:00:01", "127.0.0.1", "private", "admin", "password", "D-Link_DGS-3650", port, "v2c", "", "", "", "", "",
			"public", "private", "", "", ""}
		if v3 {
			want = []string{"02:00:00:00:00:01", "127.0.0.1", "", "admin", "password", "D-Link_DGS-3650", port, "v3", "ops", "SHA256",
				"authpass123", "AES", "privpass123", "", "", "", "", ""}
		}
		if d := cmp.Diff([][]string{network.Columns(), want}, rows[:2]); d != "" || len(rows) != 3 {
			t.Errorf("%d rows: %s", len(rows), d)
		}
		left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
		if err != nil || len(left) > 0 {
			t.Errorf("not removed: %v, %v", left, err)
		}
		if n.WriteCSV(filepath.Join(path, "below-a-file")) == nil {
			t.Error("a list is written below a file")
		}
	}
}
