package mibdriver_test

import (
	"os"
	"path/filepath"
	"testing"

	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/internal/lab/snmprec"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/sdk/switchdriver"
)

// recordings finds the recordings of real switches, which lie beside the project
// and are no part of it.
func recordings(t *testing.T) string {
	t.Helper()
	dirs := []string{os.Getenv("CTL_SHARED")}
	if wd, err := os.Getwd(); err == nil {
		for up := wd; ; up = filepath.Dir(up) {
			if _, err := os.Stat(filepath.Join(up, "go.mod")); err == nil {
				dirs = append(dirs, filepath.Join(filepath.Dir(up), "shared"))
				break
			}
			if up == filepath.Dir(up) {
				break
			}
		}
	}
	for _, d := range dirs {
		dir := filepath.Join(d, "data", "snmprec")
		if _, err := os.Stat(filepath.Join(dir, "INDEX.md")); d != "" && err == nil {
			return dir
		}
	}
	t.Skipf("SKIPPED, NOT TESTED: the peer, the recordings of real switches, is not there; looked in %q (set CTL_SHARED)", dirs)
	return ""
}

func load(t *testing.T, path string) *snmprec.MIB {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := snmprec.Read(f)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return m
}

// play serves a recording and returns the switch it is of.
func play(t *testing.T, h *snmpagent.Host, path, mac string) *switchdriver.Switch {
	t.Helper()
	m, err := mib.ParseMAC(mac)
	if err != nil {
		t.Fatal(err)
	}
	s, err := h.Listen(loopback(0), snmpagent.New(snmpagent.Config{MIB: load(t, path), ReadCommunity: "public"}))
	if err != nil {
		t.Fatal(err)
	}
	return &switchdriver.Switch{NodeId: uint64(m), Address: s.Addr().Addr().String(), Model: filepath.Base(path),
		Snmp: access(s.Addr().Port())}
}
