package mibdriver_test

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/mibdriver"
	"ctl.internal/plugins/switch/snmp"
)

// columnOf reads a column of text from the lines of a recording, by the index.
func columnOf(t *testing.T, path, oid string) map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[string]string{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.SplitN(lines.Text(), "|", 3)
		index, ok := strings.CutPrefix("."+strings.TrimPrefix(fields[0], "."), oid+".")
		if ok && len(fields) == 3 && fields[1] == "4" {
			out[index] = strings.TrimSpace(fields[2])
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// The inventories of real switches have all components of their recordings, with the serials and models.
func TestInventoryOfRecordings(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(recordings(t), "*.snmprec"))
	if err != nil {
		t.Fatal(err)
	}
	h := snmpagent.NewHost()
	t.Cleanup(h.Close)
	c := snmp.NewClient(snmp.Options{})
	t.Cleanup(c.Close)
	d := mibdriver.New(c)
	all := 0
	for _, path := range files {
		serials, models := columnOf(t, path, mib.EntSerial), columnOf(t, path, mib.EntModel)
		list, err := d.ReadInventory(deadline(t), play(t, h, path, "02:00:00:00:00:01"))
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(path), err)
			continue
		}
		all += len(list)
		found := 0
		for _, part := range list {
			if part.Serial != "" {
				found++
			}
			index := mib.Sub("", part.Index)
			if s, ok := serials[strings.TrimPrefix(index, ".")]; ok && s != part.Serial {
				t.Errorf("%s: component %d has the serial %q, not %q", filepath.Base(path), part.Index, part.Serial, s)
			}
			if m, ok := models[strings.TrimPrefix(index, ".")]; ok && m != part.Model {
				t.Errorf("%s: component %d is the model %q, not %q", filepath.Base(path), part.Index, part.Model, m)
			}
		}
		want := 0
		for _, s := range serials {
			if s != "" {
				want++
			}
		}
		if found < want {
			t.Errorf("%s: %d serials, not %d", filepath.Base(path), found, want)
		}
	}
	if all == 0 {
		t.Error("no recording has components")
	}
}
