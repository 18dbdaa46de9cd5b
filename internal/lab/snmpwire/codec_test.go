package snmpwire

import (
	"bytes"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// everyValue has the corners of each type.
func everyValue() []VarBind {
	values := []Value{
		Int32(0), Int32(-1), Int32(127), Int32(128), Int32(-128), Int32(-129), Int32(math.MaxInt32), Int32(math.MinInt32),
		Octets([]byte{}), Text("x"), Octets(bytes.Repeat([]byte{7}, 300)), {Tag: Null},
		Object(OID{0, 0}), Object(OID{1, 0, 8802, 1}), Object(OID{2, 999, 4294967295}),
		{Tag: IPAddress, Bytes: []byte{127, 0, 0, 1}}, {Tag: Opaque, Bytes: []byte{1}},
		Unsigned(Counter32, math.MaxUint32), Unsigned(Gauge32, 1<<31), Unsigned(TimeTicks, 5),
		Unsigned(Counter64, math.MaxUint64), Unsigned(Counter64, 1<<32),
		{Tag: NoSuchObject}, {Tag: NoSuchInstance}, {Tag: EndOfMibView},
	}
	list := make([]VarBind, len(values))
	for i, v := range values {
		list[i] = VarBind{OID{1, 3, 6, 1, uint32(i), 1 << 20}, v}
	}
	return list
}

func TestCommunityRoundTrip(t *testing.T) {
	want := PDU{GetBulkRequest, -5, 2, 70000, everyValue()}
	got, err := DecodeCommunity(EncodeCommunity(Version2c, "public", want.Raw()))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(&Message{Version2c, "public", want}, got); d != "" {
		t.Error(d)
	}
}

func TestBrokenMessages(t *testing.T) {
	good := EncodeCommunity(Version2c, "public", PDU{GetRequest, 1, 0, 0, everyValue()[:3]}.Raw())
	for n := range good {
		if _, err := DecodeCommunity(good[:n]); err == nil {
			t.Errorf("a message cut after %d of %d octets is accepted", n, len(good))
		}
	}
	for name, msg := range map[string][]byte{
		"indefinite length": {0x30, 0x80, 2, 1, 1, 0, 0},
		"length of 5":       {0x30, 0x85, 0, 0, 0, 0, 0},
		"huge length":       {0x30, 0x84, 0xff, 0xff, 0xff, 0xff},
		"trailing octets":   append(bytes.Clone(good), 0),
		"version 3":         {0x30, 3, 2, 1, 3},
		"empty integer":     {0x30, 2, 2, 0},
	} {
		if _, err := DecodeCommunity(msg); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func FuzzDecodeCommunity(f *testing.F) {
	f.Add(EncodeCommunity(Version1, "public", PDU{SetRequest, 1, 0, 0, everyValue()}.Raw()))
	f.Add([]byte{0x30, 0x84, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, msg []byte) {
		m, err := DecodeCommunity(msg)
		if err != nil {
			return
		}
		again, err := DecodeCommunity(EncodeCommunity(m.Version, m.Community, m.PDU.Raw()))
		if err != nil {
			t.Fatalf("what was read cannot be read again: %v", err)
		}
		if d := cmp.Diff(m, again); d != "" {
			t.Error(d)
		}
	})
}

func TestStatusV1(t *testing.T) {
	for s, want := range map[Status]Status{
		NoError: NoError, TooBig: TooBig, GenErr: GenErr, WrongType: BadValue, InconsistentValue: BadValue,
		NoAccess: NoSuchName, NotWritable: NoSuchName, NoCreation: NoSuchName, CommitFailed: GenErr,
	} {
		if got := s.V1(); got != want {
			t.Errorf("%s in version 1 is %s, want %s", s, got, want)
		}
	}
	for s := NoError; s <= InconsistentName; s++ {
		if back, err := ParseStatus(s.String()); err != nil || back != s {
			t.Errorf("ParseStatus(%q) = %v, %v", s, back, err)
		}
	}
}
