package simswitch_test

import (
	"encoding/binary"
	"testing"

	"ctl.internal/internal/lab/simswitch"
	"ctl.internal/internal/lab/snmpwire"
)

// Whatever a manager asks and writes, the MIB stays in order: GETNEXT
// increases, and GET knows what GETNEXT names.
func FuzzMIB(f *testing.F) {
	f.Add(vlanStatus+"100", int64(4), []byte{}, []byte{})
	f.Add(staticPorts+"1.6.0.0.0.0.9.0", int64(0), []byte{0x80, 0}, []byte{0, 0, 0, 1})
	f.Add(arpMAC+"5121.10.99.0.7", int64(4), []byte{2, 0, 0, 0, 0, 7}, []byte{})
	f.Add(remSysName+"6000.1", int64(0), []byte{}, []byte{0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, text string, number int64, octets, more []byte) {
		name, err := snmpwire.ParseOID(text)
		if err != nil {
			return
		}
		for ; len(more) >= 4; more = more[4:] {
			name = name.Append(binary.BigEndian.Uint32(more))
		}
		b := newBench(t, func(p *simswitch.Profile) { p.TimeMark, p.FDBOffset = true, 5 })
		b.Learn(1, simswitch.MAC{6, 0, 0, 0, 0, 9}, 1)
		b.AddNeighbor(1, simswitch.Neighbor{SysName: "no management address"})
		b.AddNeighbor(2, newBench(t, nil).Advert(1))
		b.mib.Set([]snmpwire.VarBind{{Name: name, Value: snmpwire.Value{Tag: snmpwire.Integer, Int: number}}, {Name: name, Value: snmpwire.Octets(octets)}})
		b.mib.Set([]snmpwire.VarBind{{Name: name, Value: snmpwire.Value{Tag: snmpwire.Integer, Int: number}}})
		b.mib.Set([]snmpwire.VarBind{{Name: name, Value: snmpwire.Octets(octets)}})
		b.mib.Get(name)
		at, v := b.mib.Next(name, nil)
		if !v.Exception() && at.Compare(name) <= 0 {
			t.Fatalf("%s does not come after %s", at, name)
		}
		for !v.Exception() {
			if got := b.mib.Get(at); got.Exception() {
				t.Fatalf("GET of %s: %s", at, got)
			}
			next, value := b.mib.Next(at, nil)
			if !value.Exception() && next.Compare(at) <= 0 {
				t.Fatalf("%s does not come after %s", next, at)
			}
			at, v = next, value
		}
	})
}
