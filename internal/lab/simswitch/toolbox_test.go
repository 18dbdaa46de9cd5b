package simswitch_test

import (
	"net/netip"
	"testing"
	"time"

	"ctl.internal/internal/lab/simswitch"
	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/internal/lab/snmpwire"
)

// Column OIDs the tests use.
const (
	ifAdmin      = "1.3.6.1.2.1.2.2.1.7."
	ifOper       = "1.3.6.1.2.1.2.2.1.8."
	vlanName     = "1.3.6.1.2.1.17.7.1.4.3.1.1."
	vlanEgress   = "1.3.6.1.2.1.17.7.1.4.3.1.2."
	vlanForbid   = "1.3.6.1.2.1.17.7.1.4.3.1.3."
	vlanUntagged = "1.3.6.1.2.1.17.7.1.4.3.1.4."
	vlanStatus   = "1.3.6.1.2.1.17.7.1.4.3.1.5."
	vlanCurrent  = "1.3.6.1.2.1.17.7.1.4.2.1.4."
	pvid         = "1.3.6.1.2.1.17.7.1.4.5.1.1."
	fdbPort      = "1.3.6.1.2.1.17.7.1.2.2.1.2."
	fdbStatus    = "1.3.6.1.2.1.17.7.1.2.2.1.3."
	staticPorts  = "1.3.6.1.2.1.17.7.1.3.1.1.3."
	staticStatus = "1.3.6.1.2.1.17.7.1.3.1.1.4."
	arpMAC       = "1.3.6.1.2.1.4.22.1.2."
	arpType      = "1.3.6.1.2.1.4.22.1.4."
	remSysName   = "1.0.8802.1.1.2.1.4.1.1.9."
)

// bench is a switch of 10 ports, ports 1 to 3 with a link, whose clock stands.
type bench struct {
	*simswitch.Switch
	mib   snmpagent.MIB
	admin []int // ports that PortAdmin reported
}

func newBench(t testing.TB, change func(p *simswitch.Profile)) *bench {
	t.Helper()
	profile := simswitch.Profiles()[0]
	if change != nil {
		change(&profile)
	}
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	b := &bench{}
	s, err := simswitch.New(simswitch.Config{
		Name: "sw1", MAC: simswitch.MAC{2, 0, 0, 0, 0, 1}, Address: netip.MustParsePrefix("10.99.0.1/16"), Ports: 10, Profile: profile,
		Clock: func() time.Time { return start }, UpTime: time.Minute, PortAdmin: func(port int, _ bool) { b.admin = append(b.admin, port) },
	})
	if err != nil {
		t.Fatal(err)
	}
	b.Switch, b.mib = s, s.MIB(simswitch.NewSchema(simswitch.LLDP))
	for p := 1; p <= 3; p++ {
		s.SetCarrier(p, true)
	}
	return b
}

// set assigns names and values in turns.
func (b *bench) set(pairs ...any) (snmpwire.Status, int) {
	var list []snmpwire.VarBind
	for i := 0; i < len(pairs); i += 2 {
		vb := snmpwire.VarBind{Name: snmpwire.MustOID(pairs[i].(string))}
		switch v := pairs[i+1].(type) {
		case int:
			vb.Value = snmpwire.Int32(v)
		case string:
			vb.Value = snmpwire.Text(v)
		case snmpwire.Value:
			vb.Value = v
		}
		list = append(list, vb)
	}
	return b.mib.Set(list)
}

// must assigns what has to succeed.
func (b *bench) must(t testing.TB, pairs ...any) {
	t.Helper()
	if status, place := b.set(pairs...); status != snmpwire.NoError {
		t.Fatalf("SET %v: %s at %d", pairs, status, place)
	}
}

func (b *bench) get(name string) string { return b.mib.Get(snmpwire.MustOID(name)).String() }

// walk returns the instances below a prefix, each as its index and its value.
func (b *bench) walk(prefix string) map[string]string {
	base := snmpwire.MustOID(prefix[:len(prefix)-1])
	out := map[string]string{}
	for at := base; ; {
		name, v := b.mib.Next(at, nil)
		if v.Exception() || !name.HasPrefix(base) {
			return out
		}
		out[name[len(base):].String()] = v.String()
		at = name
	}
}

func gauge(n int) snmpwire.Value { return snmpwire.Unsigned(snmpwire.Gauge32, uint64(n)) }
