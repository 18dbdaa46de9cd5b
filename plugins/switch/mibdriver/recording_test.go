package mibdriver_test

import (
	"bufio"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/internal/lab/snmpwire"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/sdk/switchdriver"
)

// recording is a MIB read from a .snmprec file: "oid|tag|value" a line.
type recording struct{ rows []snmpwire.VarBind }

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

func load(t *testing.T, path string) *recording {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := &recording{}
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		parts := strings.SplitN(s.Text(), "|", 3)
		if len(parts) != 3 {
			continue // the second line of a text with a newline in it
		}
		name, err := snmpwire.ParseOID(parts[0])
		if err != nil {
			continue
		}
		r.rows = append(r.rows, snmpwire.VarBind{Name: name, Value: value(t, parts[1], parts[2])})
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(r.rows, func(a, b snmpwire.VarBind) int { return a.Name.Compare(b.Name) })
	return r
}

func value(t *testing.T, tag, text string) snmpwire.Value {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimRight(strings.TrimSuffix(tag, ":numeric"), "xe"))
	if err != nil {
		t.Fatalf("tag %q", tag)
	}
	switch v := snmpwire.Tag(n); v {
	case snmpwire.OctetString:
		if !strings.HasSuffix(tag, "x") {
			return snmpwire.Text(text)
		}
		b, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		return snmpwire.Octets(b)
	case snmpwire.ObjectID:
		o, err := snmpwire.ParseOID(text)
		if err != nil {
			t.Fatal(err)
		}
		return snmpwire.Object(o)
	case snmpwire.IPAddress:
		return snmpwire.Value{Tag: v, Bytes: []byte{0, 0, 0, 0}}
	default:
		i, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return snmpwire.Text(text)
		}
		return snmpwire.Value{Tag: v, Int: i}
	}
}

// Get implements snmpagent.MIB.
func (r *recording) Get(name snmpwire.OID) snmpwire.Value {
	i, ok := r.find(name)
	if !ok {
		return snmpwire.Value{Tag: snmpwire.NoSuchInstance}
	}
	return r.rows[i].Value
}

// Next implements snmpagent.MIB.
func (r *recording) Next(name, dst snmpwire.OID) (snmpwire.OID, snmpwire.Value) {
	i, ok := r.find(name)
	if ok {
		i++
	}
	if i == len(r.rows) {
		return append(dst[:0], name...), snmpwire.Value{Tag: snmpwire.EndOfMibView}
	}
	return append(dst[:0], r.rows[i].Name...), r.rows[i].Value
}

// Set implements snmpagent.MIB: a recording cannot be changed.
func (r *recording) Set([]snmpwire.VarBind) (snmpwire.Status, int) { return snmpwire.NotWritable, 1 }

func (r *recording) find(name snmpwire.OID) (int, bool) {
	return slices.BinarySearchFunc(r.rows, name, func(v snmpwire.VarBind, n snmpwire.OID) int { return v.Name.Compare(n) })
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
