package lldp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"
	"time"
)

var (
	key    = Key("a key of this run of the controller")
	origin = Origin{Datapath: 0x0000aabbccddeeff, Port: 0x01020304, Epoch: 7, Sequence: 9}
	header = Header{Source: [6]byte{2, 0, 0, 0, 0, 1}, System: "openflow:1", TTL: 15 * time.Second}
)

// A frame is an LLDP frame for everybody: lldpd or Wireshark show its parts.
func TestFrameIsLLDP(t *testing.T) {
	f := key.Frame(origin, header)
	if !bytes.Equal(f[:6], destination[:]) || !bytes.Equal(f[6:12], header.Source[:]) || binary.BigEndian.Uint16(f[12:]) != 0x88cc {
		t.Fatalf("the Ethernet header is %x", f[:14])
	}
	tlvs, err := parseTLVs(f[14:])
	if err != nil {
		t.Fatal(err)
	}
	want := []tlv{
		{typeChassisID, []byte{4, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff}}, {typePortID, append([]byte{7}, "16909060"...)},
		{typeTTL, []byte{0, 15}}, {typeSystemName, []byte("openflow:1")},
	}
	for i, w := range want {
		if tlvs[i].kind != w.kind || !bytes.Equal(tlvs[i].value, w.value) {
			t.Errorf("TLV %d is %d %x, want %d %x", i, tlvs[i].kind, tlvs[i].value, w.kind, w.value)
		}
	}
}

func TestOpen(t *testing.T) {
	frame := key.Frame(origin, header)
	got, err := key.Open(append(frame, 0, 0, 0)) // padding of the wire
	if err != nil || got != origin {
		t.Fatalf("got %+v %v, want %+v", got, err, origin)
	}
	foreign := appendTLV(nil, typeChassisID, []byte{4, 1, 2, 3, 4, 5, 6})
	foreign = appendTLV(foreign, typePortID, []byte{7, '1'})
	foreign = appendTLV(foreign, typeTTL, []byte{0, 1})
	foreign = appendTLV(foreign, typeOrganized, []byte{0, 0x80, 0xc2, 1, 0, 1})
	foreign = append(bytes.Clone(frame[:14]), append(foreign, 0, 0)...)
	for name, k := range map[string]struct {
		key   Key
		frame []byte
		want  error
	}{
		"another system":  {key, foreign, ErrForeign},
		"another run":     {Key("the key of another run"), frame, ErrForged},
		"no LLDP":         {key, append(make([]byte, 12), 8, 0, 1, 2), ErrNotLLDP},
		"nothing":         {key, nil, ErrNotLLDP},
		"only the header": {key, frame[:14], errShort},
		"cut in a TLV":    {key, frame[:40], errShort},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := k.key.Open(k.frame); !errors.Is(err, k.want) || got != (Origin{}) {
				t.Errorf("got %+v %v, want %v", got, err, k.want)
			}
		})
	}
	if _, err := key.Open(append(bytes.Clone(frame[:14]), 0, 0)); err == nil {
		t.Error("a frame without mandatory TLVs was taken")
	}
}

// Whatever bit of a TLV is changed, and whatever TLV is added or left out, the frame proves nothing.
func TestEveryChangeOfATLVIsSeen(t *testing.T) {
	frame := key.Frame(origin, header)
	for i := etherHeader; i < len(frame); i++ {
		for bit := range 8 {
			f := bytes.Clone(frame)
			f[i] ^= 1 << bit
			if got, err := key.Open(f); err == nil {
				t.Fatalf("byte %d bit %d: taken as %+v", i, bit, got)
			}
		}
	}
	tlvs, err := parseTLVs(frame[etherHeader:])
	if err != nil {
		t.Fatal(err)
	}
	build := func(list ...tlv) []byte {
		f := bytes.Clone(frame[:etherHeader])
		for _, v := range list {
			f = appendTLV(f, v.kind, v.value)
		}
		return appendTLV(f, typeEnd, nil)
	}
	name, ours := tlvs[3], tlvs[4]
	if got, err := key.Open(build(tlvs...)); err != nil || got != origin {
		t.Fatalf("the same TLVs: %+v %v", got, err)
	}
	for what, list := range map[string][]tlv{
		"without the name":   {ours},
		"another name":       {{typeSystemName, []byte("openflow:2")}, ours},
		"another order":      {ours, name},
		"one more before":    {name, {typeSystemName + 1, []byte("x")}, ours},
		"one more after":     {name, ours, {typeSystemName + 1, []byte("x")}},
		"the origin twice":   {name, ours, ours},
		"an empty one after": {name, ours, {typeSystemName + 1, nil}},
	} {
		if got, err := key.Open(build(append(tlvs[:3:3], list...)...)); !errors.Is(err, ErrForged) {
			t.Errorf("%s: %+v %v, want %v", what, got, err, ErrForged)
		}
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(key.Frame(origin, header))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, frame []byte) {
		if got, err := key.Open(frame); err == nil && got != origin {
			t.Errorf("%x was taken as a frame of %+v", frame, got)
		}
	})
}
