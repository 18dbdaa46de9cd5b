package mib

import (
	"bytes"
	"slices"
	"testing"
)

func TestUnder(t *testing.T) {
	for _, c := range []struct {
		base, oid string
		want      []uint32
		ok        bool
	}{
		{".1.3.6", ".1.3.6.1.4294967295", []uint32{1, 4294967295}, true},
		{".1.3.6", ".1.3.60.1", nil, false}, // no arc boundary
		{".1.3.6", ".1.3.6", nil, false},
		{".1.3.6", ".1.3.6.", nil, false},
		{".1.3.6", ".1.3.6.4294967296", nil, false},
		{".1.3.6", ".1.3.6.1..2", nil, false},
		{".1.3.6", ".1.3.6.-1", nil, false},
	} {
		got, ok := Under(c.base, c.oid, nil)
		if ok != c.ok || !slices.Equal(got, c.want) {
			t.Errorf("Under(%q, %q) = %v, %v", c.base, c.oid, got, ok)
		}
	}
}

func TestFDBIndex(t *testing.T) {
	for _, ix := range [][]uint32{{7, 0, 12, 230, 114, 206, 176}, {7, 6, 0, 12, 230, 114, 206, 176}} {
		fdb, mac, ok := FDBIndex(ix)
		if !ok || fdb != 7 || mac.String() != "00:0c:e6:72:ce:b0" {
			t.Errorf("%v: %d %s %v", ix, fdb, mac, ok)
		}
	}
	for _, ix := range [][]uint32{nil, {1}, {1, 2, 3, 4, 5, 6, 256}, {1, 7, 1, 2, 3, 4, 5, 6}} {
		if _, _, ok := FDBIndex(ix); ok {
			t.Errorf("%v was taken", ix)
		}
	}
}

func TestLLDPManagement(t *testing.T) {
	for _, ix := range [][]uint32{{5212, 25, 1, 1, 4, 143, 160, 6, 61}, {5212, 25, 1, 1, 143, 160, 6, 61}} {
		row, addr, ok := LLDPManagement(ix)
		if !ok || row != (RemoteIndex{5212, 25, 1}) || addr.String() != "143.160.6.61" {
			t.Errorf("%v: %v %v %v", ix, row, addr, ok)
		}
	}
	for _, ix := range [][]uint32{{1, 2, 3}, {1, 2, 3, 6, 6, 1, 2, 3, 4, 5, 6}, {1, 2, 3, 1, 4, 1, 2, 3, 256}} {
		if _, _, ok := LLDPManagement(ix); ok {
			t.Errorf("%v was taken", ix)
		}
	}
}

// The form of lists is decided for all lists of an agent together.
func TestListForms(t *testing.T) {
	upTo := func(n uint32) Ports {
		p := Ports{}
		for i := range n {
			p[i+1] = true
		}
		return p
	}
	for name, c := range map[string]struct {
		lists [][]byte
		known Ports
		pvid  map[uint32]int // by port, the list of its VLAN
		form  ListForm
		want  [][]uint32 // nil: no form
	}{
		"most significant bit is port 1":    {[][]byte{{0x81, 0x80}}, upTo(10), nil, ListBits, [][]uint32{{1, 8, 9}}},
		"garbage after the ports":           {[][]byte{{0x80, 0, '\n', '0', '0'}}, upTo(10), nil, ListBits, [][]uint32{{1}}},
		"ports not known":                   {[][]byte{{0x80, 1}}, nil, nil, ListBits, [][]uint32{{1, 16}}},
		"comma text":                        {[][]byte{[]byte("1,3,9")}, upTo(10), nil, ListNumbers, [][]uint32{{1, 3, 9}}},
		"comma text, ports not known":       {[][]byte{[]byte("1,3,9")}, nil, nil, ListNumbers, [][]uint32{{1, 3, 9}}},
		"one octet that could be the digit": {[][]byte{[]byte("1")}, PortsOf(3, 4, 8), nil, ListBits, [][]uint32{{3, 4, 8}}},
		"no lists":                          {[][]byte{nil, {}}, upTo(10), nil, ListBits, [][]uint32{{}, {}}},
		"text of JunOS":                     {[][]byte{[]byte("0,4097,4099"), nil}, PortsOf(1, 4097), nil, ListNumbers, [][]uint32{{4097}, {}}},
		"text without a port":               {[][]byte{[]byte("0,4099")}, upTo(10), nil, ListNumbers, [][]uint32{{}}},
		"digits that are bits":              {[][]byte{[]byte("00")}, upTo(4), nil, ListBits, [][]uint32{{3, 4}}},
		"a hidden port: never text":         {[][]byte{{0xf9}, {0x31}}, upTo(5), nil, ListBits, [][]uint32{{1, 2, 3, 4, 5}, {3, 4}}},
		"a hidden port, one VLAN":           {[][]byte{{0x31}}, upTo(5), nil, ListBits, [][]uint32{{3, 4}}},
		"hidden ports alone":                {[][]byte{{0xf8}, {0x01}}, upTo(5), nil, ListBits, [][]uint32{{1, 2, 3, 4, 5}, {}}},
		"numbers, some alone":               {[][]byte{[]byte("62"), []byte("58,60"), []byte("8")}, upTo(64), nil, ListNumbers, [][]uint32{{62}, {58, 60}, {8}}},
		"one number a list":                 {[][]byte{[]byte("62"), []byte("8")}, upTo(64), nil, ListNumbers, [][]uint32{{62}, {8}}},
		"one number alone, of great ports":  {[][]byte{[]byte("513")}, PortsOf(512, 513), nil, ListNumbers, [][]uint32{{513}}},
		"a number that its PVID confirms":   {[][]byte{[]byte("8")}, upTo(8), map[uint32]int{8: 0}, ListNumbers, [][]uint32{{8}}},
		"bits that a PVID confirms":         {[][]byte{[]byte("8")}, upTo(8), map[uint32]int{3: 0}, ListBits, [][]uint32{{3, 4, 5}}},
		"hexadecimal digits":                {[][]byte{[]byte("FFC000"), []byte("600000")}, upTo(24), nil, ListHex, [][]uint32{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {2, 3}}},
		"hexadecimal digits of few ports":   {[][]byte{[]byte("60"), []byte("81")}, upTo(8), nil, ListHex, [][]uint32{{2, 3}, {1, 8}}},
		"hexadecimal with blanks and NUL":   {[][]byte{[]byte("FF c0 00\x00"), []byte("00 00 00\x00")}, upTo(24), nil, ListHex, [][]uint32{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {}}},
		"words":                             {[][]byte{[]byte("@@@@@@ none"), {0x80}}, PortsOf(300, 301), nil, ListBits, nil},
		"numbers among bits":                {[][]byte{[]byte("58,60"), {0xff, 0, 0, 0, 0, 0, 0, 1}}, upTo(64), nil, ListBits, nil},
	} {
		agree := func(f ListForm) (n int) {
			for port, l := range c.pvid {
				if f.Ports(c.lists[l], c.known)[port] {
					n++
				}
			}
			return n
		}
		form, err := FormOf(c.lists, c.known, agree)
		if (err != nil) != (c.want == nil) || form != c.form {
			t.Errorf("%s: form %v, %v; want %v", name, form, err, c.form)
			continue
		}
		for i, want := range c.want {
			if got := form.Ports(c.lists[i], c.known).Sorted(); !slices.Equal(got, want) {
				t.Errorf("%s: list %d has %v, want %v", name, i, got, want)
			}
		}
	}
}

func TestUpdateKeepsWhatIsNotKnown(t *testing.T) {
	old := []byte{0x80, 0xff, 0x55}
	got := Update(old, PortsOf(1, 2, 9), PortsOf(2))
	if want := []byte{0x40, 0x7f, 0x55}; !bytes.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
	if !bytes.Equal(old, []byte{0x80, 0xff, 0x55}) {
		t.Error("the old list was changed")
	}
	if got := Update(nil, PortsOf(1, 9), PortsOf(9)); !bytes.Equal(got, []byte{0, 0x80}) {
		t.Errorf("a list that was not there: %x", got)
	}
}

func TestMAC(t *testing.T) {
	m, err := ParseMAC("90:94:e4:23:13:e0")
	if err != nil || m != 158969157063648 {
		t.Fatalf("%d, %v", m, err)
	}
	for _, s := range []string{"9094e42313e0", "90-94-E4-23-13-E0", "9094.e423.13e0", "00:00:90:94:e4:23:13:e0", " 90:94:e4:23:13:e0 "} {
		if got, err := ParseMAC(s); got != m || err != nil {
			t.Errorf("%q: %s, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "x", "90:94:e4:23:13", "01:00:90:94:e4:23:13:e0", "9:09:4e:42:31:3e:0", "909:4:e4:23:13:e0", "9:0:9:4:e:4:2:3:1:3:e:0"} {
		if _, err := ParseMAC(s); err == nil {
			t.Errorf("%q was taken", s)
		}
	}
	if got, err := ParseMAC("2:0:de:91:64:42"); got != 0x0200de916442 || err != nil {
		t.Errorf("leading zeros left out: %s, %v", got, err)
	}
	for m, want := range map[MAC]bool{0: false, 1: true, 0x0100_0000_0000: false, 0xffff_ffff_ffff: false, 1 << 48: false} {
		if m.Unicast() != want {
			t.Errorf("%s unicast: %v", m, m.Unicast())
		}
	}
}

func FuzzPortList(f *testing.F) {
	f.Add([]byte{0x81, 0x80}, uint16(24))
	f.Add([]byte("1,2,24"), uint16(24))
	f.Fuzz(func(t *testing.T, list []byte, n uint16) {
		known := Ports{}
		for p := range uint32(n % 512) {
			known[p+1] = true
		}
		got := PortList(list, known)
		if !isSubset(got, known) {
			t.Fatalf("ports the switch has not: %v", got.Sorted())
		}
		back := PortList(Update(list, known, got), known)
		if !slices.Equal(back.Sorted(), got.Sorted()) {
			t.Fatalf("written and read back: %v, want %v", back.Sorted(), got.Sorted())
		}
	})
}

func FuzzIndexes(f *testing.F) {
	f.Add(".1.3.6.1.2.1.17.7.1.2.2.1.2", ".1.3.6.1.2.1.17.7.1.2.2.1.2.1.0.12.230.114.206.176")
	f.Fuzz(func(t *testing.T, base, oid string) {
		ix, ok := Under(base, oid, nil)
		if !ok {
			return
		}
		if back := Sub(base, ix...); len(back) > len(oid) {
			t.Fatalf("%q became %q", oid, back)
		}
		FDBIndex(ix)
		LLDPManagement(ix)
		LLDPRemote(ix)
		TimedVID(ix)
	})
}
