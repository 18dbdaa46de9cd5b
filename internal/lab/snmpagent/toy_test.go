package snmpagent_test

import (
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/gosnmp/gosnmp"

	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/internal/lab/snmpwire"
)

// toy is the smallest device with all kinds of objects: a table of n rows
// below 1.3.6.1.9.1, whose columns are a number that SET may write (1), a
// Counter64 (2) and a text of 100 octets (3).
type toy struct {
	mu      sync.Mutex
	numbers []int64
	commits int
}

func newToy(n int) *toy { return &toy{numbers: make([]int64, n)} }

func (d *toy) mib() snmpagent.MIB {
	next := func(d *toy, after, dst snmpwire.OID) (snmpwire.OID, bool) {
		i := uint32(1)
		if len(after) > 0 {
			i = after[0] + 1
		}
		if len(after) > 0 && after[0] == 0xffffffff || int(i) > len(d.numbers) {
			return nil, false
		}
		return append(dst, i), true
	}
	row := func(d *toy, inst snmpwire.OID) (*int64, bool) {
		if len(inst) != 1 || inst[0] < 1 || int(inst[0]) > len(d.numbers) {
			return nil, false
		}
		return &d.numbers[inst[0]-1], true
	}
	column := func(n uint32, get func(v int64) snmpwire.Value) snmpagent.Object[*toy] {
		return snmpagent.Object[*toy]{Name: "toy", OID: snmpwire.OID{1, 3, 6, 1, 9, 1, n}, Next: next,
			Get: func(d *toy, inst snmpwire.OID) (snmpwire.Value, bool) {
				p, ok := row(d, inst)
				if !ok {
					return snmpwire.Value{}, false
				}
				return get(*p), true
			}}
	}
	number := column(1, func(v int64) snmpwire.Value { return snmpwire.Int32(int(v)) })
	number.Syntax = snmpagent.Syntax{Tag: snmpwire.Integer, Min: 0, Max: 100}
	number.Set = func(d *toy, t *snmpagent.Tx, inst snmpwire.OID, v snmpwire.Value) snmpwire.Status {
		p, ok := row(d, inst)
		if !ok {
			return snmpwire.NoCreation
		}
		old := *p
		t.Undo(func() { *p = old })
		t.Check(func() snmpwire.Status {
			if *p == 13 {
				return snmpwire.InconsistentValue
			}
			return snmpwire.NoError
		})
		t.Commit(func() { d.commits++ })
		*p = v.Int
		return snmpwire.NoError
	}
	text := make([]byte, 100)
	return snmpagent.NewSchema([]snmpagent.Object[*toy]{number,
		column(3, func(int64) snmpwire.Value { return snmpwire.Octets(text) }),
		column(2, func(v int64) snmpwire.Value { return snmpwire.Unsigned(snmpwire.Counter64, uint64(v)) }),
	}).Bind(d, &d.mu)
}

// serve starts an agent that ends with the test.
func serve(t testing.TB, cfg snmpagent.Config) *snmpagent.Server {
	t.Helper()
	h := snmpagent.NewHost()
	t.Cleanup(h.Close)
	s, err := h.Listen(netip.MustParseAddrPort("127.0.0.1:0"), snmpagent.New(cfg))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// client opens a session to a server; change may alter it first.
func client(t testing.TB, s *snmpagent.Server, change func(g *gosnmp.GoSNMP)) *gosnmp.GoSNMP {
	t.Helper()
	g := &gosnmp.GoSNMP{Target: "127.0.0.1", Port: s.Addr().Port(), Version: gosnmp.Version2c, Community: "private",
		Timeout: 30 * time.Second, MaxOids: 1000, MaxRepetitions: 20}
	if change != nil {
		change(g)
	}
	if err := g.Connect(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Conn.Close() })
	return g
}
