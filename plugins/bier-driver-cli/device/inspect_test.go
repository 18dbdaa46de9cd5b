package device

import (
	"encoding/hex"
	"regexp"
	"strings"
	"testing"

	"ctl.internal/sdk/bierdriver"
)

// shown is what freeRtr says of a label of BIER in its raw form, with 64 bits.
const shown = "label;686368;\r\nkey;73-lsrp bier;\r\nworking;true;\r\nbier base;686368;\r\nbier bsl;1-64;\r\nbier si;0;\r\nbier sis;0;\r\nbier idx;1;\r\nbier idx2;0;\r\n" +
	"bier local bs; 00 00 00 00 00 00 00 01;\r\nbier peer;1.1.1.2 ethernet1 lab=269552 bs= 00 00 00 00 00 00 00 0e;\r\n" +
	"bier peer;1.1.2.3 ethernet2 lab=250331 bs= 00 00 00 00 00 00 00 10;\r\ncounter;tx=0(0) rx=1280(5) drp=0(0);\r\nhardware counter;null;\r\n"

func inspection() (x Inspection) {
	x.Forwarding.Label, x.Forwarding.BSL, x.Forwarding.SI, x.Forwarding.Own = `^([0-9]+);.*;bier;`, `^bier bsl;[0-9]+-([0-9]+)`, `^bier si;([0-9]+)`, `^bier local bs;([0-9a-f ]+)`
	x.Forwarding.Neighbor, x.Forwarding.Counter = `^bier peer;(\S+ \S+) lab=[0-9]+ bs=([0-9a-f ]+)`, `^counter;.*rx=([0-9]+) ?\(([0-9]+)\)`
	return x
}

func compiled(x Inspection) expressions {
	return x.compileExpressions(func(_, text string, _ int) *regexp.Regexp { return regexp.MustCompile(text) })
}

// What a router shows of a label is a table with its neighbours, masks and counter.
func TestTableAsShown(t *testing.T) {
	e := compiled(inspection())
	x, err := e.parseForwardingTable(shown)
	if err != nil {
		t.Fatal(err)
	}
	if x.Bitstringlength != 64 || x.Si != 0 || hex.EncodeToString(x.Own) != "0000000000000001" || len(x.Neighbors) != 2 || x.Bytes != 1280 || x.Packets != 5 || !x.HasCounters {
		t.Errorf("%v", x)
	}
	if n := x.Neighbors[0]; n.Name != "1.1.1.2 ethernet1" || hex.EncodeToString(n.FBm) != "000000000000000e" {
		t.Errorf("%v", n)
	}
	for what, change := range map[string][2]string{"no length": {"bier bsl;1-64;", ""}, "an invalid length": {"1-64", "1-65"}, "half a mask": {"00 00 00 0e", "0e"}, "no hexadecimal": {"0e;", "0e 0;"}} {
		if x, err := e.parseForwardingTable(strings.ReplaceAll(shown, change[0], change[1])); err == nil {
			t.Errorf("%s: taken as %v", what, x)
		}
	}
}

// Whatever a router says, reading it ends with a table or an error.
func FuzzTableAsShown(f *testing.F) {
	f.Add(shown)
	e := compiled(inspection())
	f.Fuzz(func(t *testing.T, said string) {
		if x, err := e.parseForwardingTable(said); err == nil && (x.Bitstringlength == 0 || x.Bitstringlength > 4096) {
			t.Errorf("%q: %v", said, x)
		}
	})
}

// channelShown is what freeRtr shows of a channel in its raw form, at an egress router with two receivers.
const channelShown = "category;value\r\nsource;2.2.2.1\r\ngroup;232.1.1.1\r\nrd;0:0\r\niface;ethernet1\r\nupstream;1.1.1.1\r\n" +
	"up vrf;null\r\nlocal;true\r\nconfigG;true\r\nconfigI;false\r\nflood iface;ethernet3\r\nlabel;null\r\n" +
	"counter;tx=192(3) rx=0(0) drp=0(0)\r\nhardware counter;null\r\n"

// What a router shows of a channel is its counter, its receivers and why it does not deliver; without receivers there
// are lines to enter.
func TestChannelAsShown(t *testing.T) {
	var set DeliveryInspection
	set.Counter, set.Receiver, set.Local, set.NoPath = `^counter;tx=[0-9]+\(([0-9]+)\)`, `^flood iface;([^;]+)`, `^local;true`, `^iface;null`
	set.ByHand = []string{"{family} multicast v1 join-group {group} {source}"}
	set.ByHandPort = []string{"interface {port}", "{family} multicast static-group {group} {source}"}
	e := set.compile(func(_, text string, _ int) *regexp.Regexp { return regexp.MustCompile(text) })
	c := &bierdriver.Channel{SourceAddress: "2.2.2.1", GroupAddress: "232.1.1.1", Role: bierdriver.Egress}
	without := strings.NewReplacer("local;true", "local;false", "flood iface;ethernet3\r\n", "")
	for name, x := range map[string]struct {
		said      string
		role      bierdriver.Role
		receivers string
		packets   uint64
		fault     string
	}{
		"receivers":    {channelShown, bierdriver.Egress, "local ethernet3", 3, ""},
		"at ingress":   {channelShown, bierdriver.Ingress, "", 3, ""},
		"no receivers": {without.Replace(channelShown), bierdriver.Egress, "", 3, ""},
		"no path":      {strings.Replace(channelShown, "iface;ethernet1", "iface;null", 1), bierdriver.Egress, "local ethernet3", 3, "it has no reverse path to the source 2.2.2.1"},
		"not known":    {"", bierdriver.Egress, "", 0, ""},
	} {
		c.Role = x.role
		got, err := e.read(x.said, c)
		if err != nil {
			t.Fatal(name, err)
		}
		if strings.Join(got.Receivers, " ") != x.receivers || got.Packets != x.packets || got.Fault != x.fault || !got.HasCounters || got.HasReceivers != (x.role == bierdriver.Egress) {
			t.Errorf("%s: %v", name, got)
		}
	}
	if x, err := e.read("counter;tx=1(99999999999999999999)", c); err == nil {
		t.Errorf("a number that is too large: %v", x)
	}
	values, err := fillIn(c)
	if err != nil {
		t.Fatal(err)
	}
	for ports, want := range map[string]string{
		"":      "ipv4 multicast v1 join-group 232.1.1.1 2.2.2.1",
		"e1 e2": "interface e1; ipv4 multicast static-group 232.1.1.1 2.2.2.1; interface e2; ipv4 multicast static-group 232.1.1.1 2.2.2.1",
	} {
		if got := strings.Join(set.byHand(values, strings.Fields(ports)), "; "); got != want {
			t.Errorf("ports %q: %s", ports, got)
		}
	}
	c.GroupAddress = "232.1.1.1; reload"
	if _, err := fillIn(c); err == nil {
		t.Error("a group that is no address is typed")
	}
}
