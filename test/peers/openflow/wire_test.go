//go:build peers

package openflowpeers

import (
	"encoding/hex"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ctl.internal/plugins/openflow/lldp"
	"ctl.internal/plugins/openflow/ofp13"

	"ctl.internal/test/harness"
)

// What the codec writes is what Open vSwitch reads.
func TestOpenVSwitchReadsWhatIsSent(t *testing.T) {
	need(t, "ovs-ofctl")
	eth := lldp.EtherType
	for want, m := range map[string]ofp13.Message{
		"OFPT_HELLO (OF1.3) (xid=0x7):\n version bitmap: 0x04":                       ofp13.Hello{Versions: 1 << 4},
		"OFPT_FEATURES_REQUEST (OF1.3)":                                              ofp13.FeaturesRequest{},
		"OFPT_ECHO_REQUEST (OF1.3) (xid=0x7): 0 bytes of payload":                    ofp13.EchoRequest{},
		"OFPT_BARRIER_REQUEST (OF1.3)":                                               ofp13.BarrierRequest{},
		"OFPST_PORT_DESC request (OF1.3) (xid=0x7): port=ANY":                        ofp13.MultipartRequest{Kind: ofp13.KindPorts},
		"OFPST_PORT request (OF1.3) (xid=0x7): port_no=ANY":                          ofp13.MultipartRequest{Kind: ofp13.KindPortStats},
		"OFPST_DESC request (OF1.3)":                                                 ofp13.MultipartRequest{Kind: ofp13.KindDescription},
		"OFPT_ROLE_REQUEST (OF1.3) (xid=0x7): role=primary generation_id=9":          ofp13.RoleRequest{Role: ofp13.RoleMaster, Generation: 9},
		"OFPT_FLOW_MOD (OF1.3) (xid=0x7): ADD priority=0 check_overlap actions=drop": ofp13.FlowMod{Flags: ofp13.FlagCheckOverlap},
		"ADD priority=65535,dl_type=0x88cc cookie:0x5 actions=CONTROLLER:65535":      ofp13.FlowMod{Cookie: 5, Priority: 65535, Match: ofp13.Match{EthType: &eth}, Outputs: []ofp13.Output{{Port: ofp13.PortController, MaxLen: ofp13.WholePacket}}},
		"DEL table:255 priority=0 cookie:0x5/0xffffffffffffffff":                     ofp13.FlowMod{Cookie: 5, CookieMask: ^uint64(0), Command: ofp13.FlowDelete, Table: ofp13.AllTables},
		"in_port=CONTROLLER actions=output:3 data_len=":                              ofp13.PacketOut{InPort: ofp13.PortController, Outputs: []ofp13.Output{{Port: 3}}, Data: lldp.Key("k").Frame(lldp.Origin{}, lldp.Header{})},
		"OFPT_ERROR (OF1.3) (xid=0x7): OFPHFC_INCOMPATIBLE":                          ofp13.Error{Kind: ofp13.ErrorHelloFailed, Code: ofp13.CodeIncompatible, Data: []byte("why")},
	} {
		raw := ofp13.Append(nil, 7, m)
		out, err := exec.CommandContext(harness.Deadline(t), "ovs-ofctl", "ofp-print", hex.EncodeToString(raw)).CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%v, ovs-ofctl reads\n%s\nwant\n%s", err, out, want)
		}
	}
}

// A host that makes LLDP frames of its own, or plays what it hears, makes no link.
func TestForgedFramesMakeNoLink(t *testing.T) {
	listen := freePort(t)
	r := newRing(t, 3, "tcp:"+listen)
	p := plugin(t, listen, nil)
	r.lab("up")
	follow(t, p, r, r.complete())
	r.lab("link", "1", "down")
	follow(t, p, r, r.complete(1))
	r.lab("link", "1", "up")
	follow(t, p, r, r.complete())
	for _, o := range []lldp.Origin{{Datapath: 3, Port: 2, Epoch: 1, Sequence: 1}, {Datapath: 99, Port: 1}, {Datapath: 2, Port: 1, Epoch: 5, Sequence: 2}} {
		frame := hex.EncodeToString(lldp.Key("guessed").Frame(o, lldp.Header{System: "openflow:1"}))
		out, err := exec.CommandContext(harness.Deadline(t), "ovs-appctl", "-t", filepath.Join(r.dir, "vswitchd.ctl"), "netdev-dummy/receive", "s1-1", frame).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	patiently(t, "the forged frames arrive", func() bool { return counter(t, p, "lldp-forged") >= 3 })
	follow(t, p, r, r.complete())
}
