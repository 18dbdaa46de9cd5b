package ofp13

import (
	"bytes"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// captured returns the messages that a real switch sent, by name.
func captured(t testing.TB) map[string][]byte {
	t.Helper()
	text, err := os.ReadFile("testdata/openvswitch.txt")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for line := range strings.Lines(string(text)) {
		if name, digits, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name != "#" {
			if out[name], err = hex.DecodeString(digits); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	return out
}

func number[T any](v T) *T { return &v }

var (
	cable = Port{Number: 1, Address: [6]byte{0xaa, 0x55, 0xaa, 0x55, 0, 2}, Name: "s1-1"}
	lldp  = append([]byte{1, 0x80, 0xc2, 0, 0, 0xe, 2, 0, 0, 0, 0, 0xaa, 0x88, 0xcc, 2, 7, 4, 2, 0, 0, 0, 0, 1, 4, 2, 7, 1, 6, 2, 0, 0x78, 0, 0}, make([]byte, 30)...)
)

// What a real switch sends is understood, and written again as it came.
func TestMessagesOfARealSwitch(t *testing.T) {
	bytesOf := captured(t)
	down := cable
	down.Config, down.State = ConfigDown, StateDown
	for name, want := range map[string]Message{
		"hello-1":            Hello{Versions: 1 << 4},
		"hello-14-15":        Hello{Versions: 1<<5 | 1<<6},
		"hello-all":          Hello{},
		"error-hello":        Error{Kind: ErrorHelloFailed, Code: CodeIncompatible, Data: []byte("We support version 0x01, you support version 0x04, no common versions.")},
		"features_reply-1":   FeaturesReply{DatapathID: 1, Tables: 254, Capabilities: 0x4f},
		"role_reply-1":       RoleReply{Role: RoleEqual, Generation: ^uint64(0)},
		"role_reply-2":       RoleReply{Role: RoleMaster, Generation: 5},
		"barrier_reply-1":    BarrierReply{},
		"error-1":            Error{Kind: ErrorRoleRequestFailed, Code: CodeStale, Data: bytesOf["error-1"][12:]},
		"port_status-1":      PortStatus{Reason: PortModified, Port: cable},
		"port_status-2":      PortStatus{Reason: PortModified, Port: down},
		"get_config_reply-1": Other{T: 8, Body: []byte{0, 0, 0, 0x80}},
		"packet_in-1":        PacketIn{Buffer: NoBuffer, TotalLen: 63, Reason: 1, Cookie: 0xabcd, Match: Match{InPort: number(uint32(1))}, Data: lldp},
	} {
		t.Run(name, func(t *testing.T) {
			raw := bytesOf[name]
			h, body, err := NewReader(bytes.NewReader(raw)).Next()
			if err != nil {
				t.Fatal(err)
			}
			got, err := Decode(h.Type, body)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error("-want +got:\n" + d)
			}
			again := Append(nil, h.XID, got)
			if again[0] = h.Version; !bytes.Equal(again, raw) {
				t.Errorf("written again:\n%x, came as\n%x", again, raw)
			}
		})
	}
}

func TestPortsOfARealSwitch(t *testing.T) {
	for name, check := range map[string]func(t *testing.T, m MultipartReply){
		"multipart_reply-1": func(t *testing.T, m MultipartReply) {
			if m.Kind != KindPorts || m.More || len(m.Ports) != 3 {
				t.Fatalf("%+v", m)
			}
			if local := m.Ports[0]; local.Number != PortLocal || local.Name != "s1" || !local.Up() {
				t.Errorf("LOCAL is %+v", local)
			}
			live := cable
			live.State = 1 << 2 // OFPPS_LIVE
			if d := cmp.Diff(live, m.Ports[1]); d != "" {
				t.Error("-want +got:\n" + d)
			}
		},
		"multipart_reply-2": func(t *testing.T, m MultipartReply) {
			d := Description{"Nicira, Inc.", "Open vSwitch", "3.1.0", "None", "None"}
			if m.Kind != KindDescription || m.Description != d {
				t.Errorf("%+v", m)
			}
		},
		"multipart_reply-3": func(t *testing.T, m MultipartReply) {
			if m.Kind != KindPortStats || len(m.Stats) != 3 || m.Stats[0].RxFrameErrors != NotKept || m.Stats[0].RxPackets != 0 {
				t.Errorf("%+v", m)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			raw := captured(t)[name]
			m, err := Decode(TypeMultipartReply, raw[headerLength:])
			if err != nil {
				t.Fatal(err)
			}
			check(t, m.(MultipartReply))
			if again := Append(nil, 0, m); !bytes.Equal(again[headerLength:], raw[headerLength:]) {
				t.Errorf("written again:\n%x, came as\n%x", again, raw)
			}
		})
	}
}

// However a message is cut, it is refused or understood, never misread into a panic.
func TestEveryCut(t *testing.T) {
	for name, raw := range captured(t) {
		for n := headerLength; n < len(raw); n++ {
			h := Type(raw[1])
			if m, err := Decode(h, raw[headerLength:n]); err == nil && m == nil {
				t.Fatalf("%s cut to %d bytes: neither message nor error", name, n)
			}
		}
	}
}
