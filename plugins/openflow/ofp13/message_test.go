package ofp13

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// What is sent to switches arrives there as it was meant: here at our own reader,
// in test/peers at Open vSwitch's.
func TestMessagesToSwitches(t *testing.T) {
	eth := uint16(0x88cc)
	for name, m := range map[string]Message{
		"features request":    FeaturesRequest{},
		"echo":                EchoRequest{Data: []byte("x")},
		"barrier":             BarrierRequest{},
		"role":                RoleRequest{Role: RoleMaster, Generation: 9},
		"ports request":       MultipartRequest{Kind: KindPorts},
		"description request": MultipartRequest{Kind: KindDescription},
		"packet out":          PacketOut{InPort: PortController, Outputs: []Output{{Port: 7}}, Data: []byte("frame")},
		"punt":                FlowMod{Cookie: 1, Priority: 65535, Match: Match{EthType: &eth}, Outputs: []Output{{Port: PortController, MaxLen: WholePacket}}},
		"drop":                FlowMod{Cookie: 1, Flags: FlagCheckOverlap},
		"delete":              FlowMod{Cookie: 1, CookieMask: ^uint64(0), Command: FlowDelete, Table: AllTables},
	} {
		t.Run(name, func(t *testing.T) {
			raw := Append(nil, 77, m)
			h, body, err := NewReader(bytes.NewReader(raw)).Next()
			if err != nil || h.XID != 77 || h.Version != 4 || int(h.Length) != len(raw) {
				t.Fatalf("%+v %v", h, err)
			}
			got, err := Decode(h.Type, body)
			if d := cmp.Diff(m, got, cmpopts.EquateEmpty()); err != nil || d != "" {
				t.Errorf("%v, -want +got:\n%s", err, d)
			}
		})
	}
}

func TestHello(t *testing.T) {
	for name, k := range map[string]struct {
		version uint8
		body    []byte
		want    bool
	}{
		"1.0 without bitmap":              {1, nil, false},
		"1.3 without bitmap":              {4, nil, true},
		"1.5 without bitmap":              {6, nil, true},
		"1.5 with 1.3":                    {6, []byte{0, 1, 0, 8, 0, 0, 0, 0x70}, true},
		"1.5 without 1.3":                 {6, []byte{0, 1, 0, 8, 0, 0, 0, 0x60}, false},
		"an unknown element first":        {4, []byte{0, 9, 0, 5, 1, 0, 0, 0, 0, 1, 0, 8, 0, 0, 0, 0x10}, true},
		"bitmap of 64 versions":           {4, []byte{0, 1, 0, 12, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0, 0}, true},
		"garbage shorter than an element": {4, []byte{1, 2, 3}, true},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := Decode(TypeHello, k.body)
			if err != nil || m.(Hello).Speaks(k.version) != k.want {
				t.Errorf("%+v %v, want %v", m, err, k.want)
			}
		})
	}
}

func TestBadMessagesAreNamed(t *testing.T) {
	for name, k := range map[string]struct {
		kind Type
		body []byte
		want string
	}{
		"features cut short":       {TypeFeaturesReply, make([]byte, 23), "cut short: its body has 23 bytes"},
		"hello element too short":  {TypeHello, []byte{0, 1, 0, 3}, "shorter than its header"},
		"match of another kind":    {TypePacketIn, make([]byte, 40), "no OXM match"},
		"match longer than all":    {TypePacketIn, append(make([]byte, 16), 0, 1, 0xff, 0xff, 0, 0, 0, 0), "cut short"},
		"match field cut short":    {TypePacketIn, append(make([]byte, 16), 0, 1, 0, 9, 0x80, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), "field of its match"},
		"ports not a multiple":     {TypeMultipartReply, append([]byte{0, 13, 0, 0, 0, 0, 0, 0}, make([]byte, 65)...), "cut short"},
		"error without code":       {TypeError, []byte{0, 1}, "cut short"},
		"actions that are no such": {TypePacketOut, append([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0}, 0, 9, 0, 8, 0, 0, 0, 0), "not an output"},
	} {
		t.Run(name, func(t *testing.T) {
			if m, err := Decode(k.kind, k.body); err == nil || !strings.Contains(err.Error(), k.want) {
				t.Errorf("got %+v %v, want %q", m, err, k.want)
			}
		})
	}
}

func TestReader(t *testing.T) {
	for name, k := range map[string]struct {
		raw  []byte
		want error
		text string
	}{
		"end between messages":  {nil, io.EOF, ""},
		"end in a header":       {[]byte{4, 0, 0}, io.ErrUnexpectedEOF, ""},
		"end in a body":         {[]byte{4, 0, 0, 9, 0, 0, 0, 0}, io.ErrUnexpectedEOF, ""},
		"shorter than a header": {[]byte{4, 0, 0, 7, 0, 0, 0, 0}, nil, "7 bytes long"},
		"HTTP instead":          {[]byte("GET / HTTP/1.1\r\n\r\n"), io.ErrUnexpectedEOF, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := NewReader(bytes.NewReader(k.raw)).Next()
			if err == nil || k.want != nil && !errors.Is(err, k.want) || !strings.Contains(err.Error(), k.text) {
				t.Errorf("got %v, want %v %q", err, k.want, k.text)
			}
		})
	}
}

// Names of ports go into documents: what is not UTF-8 must not break them.
func TestTextIsUTF8(t *testing.T) {
	raw := Append(nil, 0, PortStatus{Port: Port{Name: "a\xffb and more than fits"}})
	m, err := Decode(TypePortStatus, raw[headerLength:])
	if got := m.(PortStatus).Port.Name; err != nil || got != "a?b and more th" {
		t.Errorf("%q %v", got, err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, raw := range captured(f) {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		h, body, err := NewReader(bytes.NewReader(raw)).Next()
		if err != nil {
			return
		}
		m, err := Decode(h.Type, body)
		if err != nil {
			return
		}
		if m.Type() != h.Type {
			t.Fatalf("type %d was decoded as %d", h.Type, m.Type())
		}
		again, err := Decode(h.Type, Append(nil, h.XID, m)[headerLength:])
		if d := cmp.Diff(m, again, cmpopts.EquateEmpty()); err != nil || d != "" {
			t.Fatalf("%v: written and read again it is another (-first +again):\n%s", err, d)
		}
	})
}
