package mibdriver_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mibdriver"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/sdk/switchdriver"
)

// agent serves a few objects, a line each in the form of recordings.
func agent(t *testing.T, lines string) (*mibdriver.Driver, *switchdriver.Switch) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent.snmprec")
	if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	h := snmpagent.NewHost()
	t.Cleanup(h.Close)
	s, err := h.Listen(loopback(0), snmpagent.New(snmpagent.Config{MIB: load(t, path), ReadCommunity: "public"}))
	if err != nil {
		t.Fatal(err)
	}
	c := snmp.NewClient(snmp.Options{})
	t.Cleanup(c.Close)
	sw := &switchdriver.Switch{NodeId: 0x020000000001, Address: s.Addr().Addr().String(), Snmp: access(s.Addr().Port())}
	sw.Snmp.Version = "2c"
	return mibdriver.New(c), sw
}

// Port 1 counts in 64 bit, port 2 in 32 bit only, the 64-bit counters of port 3 stand at 0, and port 4 says that it
// does not count, with all ones. Only ifSpeed knows the speed of ports 1 and 3.
func TestCountersOfEachPort(t *testing.T) {
	d, sw := agent(t, `1.3.6.1.2.1.1.3.0|67|4200
1.3.6.1.2.1.2.2.1.5.1|66|1000000000
1.3.6.1.2.1.2.2.1.5.2|66|4294967295
1.3.6.1.2.1.2.2.1.5.3|66|10000000
1.3.6.1.2.1.2.2.1.8.1|2|1
1.3.6.1.2.1.2.2.1.8.2|2|1
1.3.6.1.2.1.2.2.1.8.3|2|1
1.3.6.1.2.1.2.2.1.8.4|2|2
1.3.6.1.2.1.2.2.1.10.1|65|7
1.3.6.1.2.1.2.2.1.10.2|65|22
1.3.6.1.2.1.2.2.1.10.3|65|33
1.3.6.1.2.1.2.2.1.14.1|65|0
1.3.6.1.2.1.2.2.1.14.4|65|4294967295
1.3.6.1.2.1.2.2.1.16.1|65|8
1.3.6.1.2.1.2.2.1.16.2|65|222
1.3.6.1.2.1.2.2.1.16.3|65|0
1.3.6.1.2.1.31.1.1.1.6.1|70|111
1.3.6.1.2.1.31.1.1.1.6.3|70|0
1.3.6.1.2.1.31.1.1.1.10.1|70|1111
1.3.6.1.2.1.31.1.1.1.10.3|70|0
1.3.6.1.2.1.31.1.1.1.15.1|66|0
1.3.6.1.2.1.31.1.1.1.15.2|66|10000
1.3.6.1.2.1.31.1.1.1.15.3|66|0
`)
	got, err := d.ReadCounters(deadline(t), sw)
	if err != nil {
		t.Fatal(err)
	}
	want := map[uint32]driver.Interface{
		1: {Oper: 1, Speed: 1_000_000_000, In: driver.Count{N: 111, Bits: 64}, Out: driver.Count{N: 1111, Bits: 64}, InErrors: driver.Count{Bits: 32}},
		2: {Oper: 1, Speed: 10_000_000_000, In: driver.Count{N: 22, Bits: 32}, Out: driver.Count{N: 222, Bits: 32}},
		3: {Oper: 1, Speed: 10_000_000, In: driver.Count{N: 33, Bits: 32}, Out: driver.Count{Bits: 64}},
		4: {Oper: 2},
	}
	if diff := cmp.Diff(want, got.Interfaces); diff != "" {
		t.Error("(-want +got):\n" + diff)
	}
	if got.UpTime != 4200 {
		t.Errorf("sysUpTime %d", got.UpTime)
	}
}
