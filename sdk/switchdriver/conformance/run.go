// Package conformance is what every driver of switches must pass. A driver's tests
// call Run with the plugin and a switch of its kind, simulated or real; a plugin in
// another language is started with plugintest.StartBinary.
//
// It asks only for the operations that the driver announces, and that it refuses
// the others. See docs/switch-driver.md.
package conformance

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// Peer is a driver with a switch that it can drive.
type Peer struct {
	// Conn reaches the plugin.
	Conn grpc.ClientConnInterface
	// Switch is as the switch plugin would hand it over.
	Switch *switchdriver.Switch
	// Ports of the switch that may be changed, three or more.
	Ports []uint32
	// At makes an entry for a switch at another place; there listens, on TCP and UDP,
	// what accepts everything and never answers, or has no listener. Nil: the driver does not
	// speak IP, and these checks are skipped.
	At func(host string, port uint16) *switchdriver.Switch
	// ARP is an address in a subnet of the switch that has no entry; empty: entries
	// are only read.
	ARP string
	// Sent returns what the driver has had the switch do or change so far, one item a
	// command; nil: it is not known.
	Sent func() []string
	// Fake is the switch, if it is simulated and can have faults; nil: not known, and what
	// the driver does with them is not checked.
	Fake Fake
	// Secrets must never be in an error or a report. The logins of Switch are added.
	Secrets []string
	// Deadline of one call, longer than any of the driver's own; 30 s when zero.
	Deadline time.Duration
}

// Run checks a driver; peer makes a new Peer, in its first state, for each check.
// Checks of operations that the driver does not announce are left out, but that it
// refuses them is one.
func Run(t *testing.T, peer func(t *testing.T) Peer) {
	var operations []string
	t.Run("says what it is for", func(t *testing.T) {
		k := newKit(t, peer(t))
		operations = k.operations
		checkDescription(k)
	})
	for _, c := range listChecks() {
		if !slices.ContainsFunc(c.needs, func(o string) bool {
			return !slices.Contains(operations, o)
		}) {
			t.Run(c.name, func(t *testing.T) {
				k := newKit(t, peer(t))
				if c.fake && (k.Fake == nil || k.At == nil) {
					t.Skip("SKIPPED, NOT TESTED: the peer, a switch with faults, is not there: Peer.Fake is not set")
				}
				c.f(k)
			})
		}
	}
}

func newKit(t *testing.T, p Peer) *kit {
	t.Helper()
	if p.Deadline == 0 {
		p.Deadline = 30 * time.Second
	}
	k := &kit{
		Peer:   p,
		t:      t,
		client: switchdriver.NewClient(p.Conn),
		raw:    pluginv1.NewSwitchDriverClient(p.Conn),
	}
	k.Secrets = append(slices.Clone(p.Secrets), p.Switch.GetCli().GetPassword(), p.Switch.GetSnmp().GetWriteCommunity(),
		p.Switch.GetSnmp().GetAuthPassword(), p.Switch.GetSnmp().GetPrivPassword())
	var err error
	k.match, k.operations, err = k.client.Describe(k.testContext())
	k.mustSucceed("DescribeDriver", err)
	t.Cleanup(k.cleanUpSwitch)
	return k
}

// check is one property, and the operations it is about.
type check struct {
	name  string
	needs []string
	fake  bool // needs a switch with faults
	f     func(*kit)
}

func listChecks() []check {
	changes := []string{"WriteVlan", "ReadVlans"}
	return []check{
		{"does what it announces", nil, false, checkAnnouncedOperations},
		{"a call without a switch", nil, false, noSwitch},
		{"no listener at the address", nil, false, noListener},
		{"a wrong password", nil, false, checkLogin},
		{"what reads changes nothing", nil, false, readsOnly},
		{"ports as the switch has them", []string{"ReadPorts"}, true, checkPortsMatch},
		{"a read at a switch with a fault", nil, true, faultyReads},
		{"a switch that refuses", changes, true, newFaultCheck(Refuses)},
		{"a switch that lies", changes, true, newFaultCheck(Lies)},
		{"a switch that hangs up", changes, true, newFaultCheck(HangsUp)},
		{"a VLAN is made, changed, removed", changes, false, vlanLife},
		{"a port is untagged in one VLAN", changes, false, untaggedOnce},
		{"VLANs that cannot be", changes, false, badVLANs},
		{"forwarding entries", []string{"WriteFdbEntry", "ReadFdb"}, false, fdbLife},
		{"forwarding entries that cannot be", []string{"WriteFdbEntry"}, false, badFDB},
		{"a forwarding entry that is not there", []string{"ReadFdb"}, false, missingFDB},
		{"ports", []string{"ReadPorts"}, false, checkPorts},
		{"settings of ports", []string{"WritePortSettings"}, false, portSettings},
		{"settings of ports that cannot be", []string{"WritePortSettings"}, false, badPortSettings},
		{"answers that cannot be", nil, false, checkPossibleAnswers},
		{"spanning tree as read", []string{"ReadStp"}, false, readSTP},
		{"spanning tree off and on", []string{"WriteStp"}, false, writeSTP},
		{"ARP entries", []string{"WriteArpEntry", "ReadArp"}, false, arpLife},
		{"ARP entries that cannot be", []string{"WriteArpEntry"}, false, badARP},
		{"access lists", []string{"ApplyAcl"}, false, aclLife},
		{"access lists that cannot be", []string{"ApplyAcl"}, false, badACL},
		{"settings", []string{"ApplySettings"}, false, checkSettings},
		// Those that wait come last.
		{"a switch that answers late", changes, true, newFaultCheck(AnswersLate)},
		{"a switch that falls silent", changes, true, checkHangingSwitch},
		{"many changes at the same time", changes, false, manyVLANs},
		{"a switch that does not answer", nil, false, checkSilentSwitch},
	}
}

// kit is one run of one check.
type kit struct {
	Peer
	t          *testing.T
	client     *switchdriver.Client
	raw        pluginv1.SwitchDriverClient
	match      switchdriver.Match
	operations []string
}

// cleanUpSwitch leaves a switch that outlives the check as it was: only what the kit makes.
func (k *kit) cleanUpSwitch() {
	ctx, cancel := context.WithTimeout(context.Background(), k.Deadline)
	defer cancel()
	if k.hasOperation("DeleteVlan") {
		for _, id := range []uint32{vlanA, vlanB} {
			_ = k.client.DeleteVLAN(ctx, k.Switch, id) // most checks have done it
		}
	}
}

func (k *kit) testContext() context.Context {
	ctx, cancel := context.WithTimeout(k.t.Context(), k.Deadline)
	k.t.Cleanup(cancel)
	return ctx
}

func (k *kit) hasOperation(operation string) bool {
	return slices.Contains(k.operations, operation)
}

// sentCommands is what the switch was asked to do; nothing when that is not known.
func (k *kit) sentCommands() []string {
	if k.Sent == nil {
		return nil
	}
	return k.Sent()
}

// sendsNothing begins a check that what follows has the switch change nothing; the function that it returns ends it.
func (k *kit) sendsNothing(what string) (end func()) {
	before := len(k.sentCommands())
	return func() {
		k.t.Helper()
		if now := k.sentCommands(); len(now) != before {
			k.t.Errorf("%s sent %q", what, now[before:])
		}
	}
}

// mustSucceed fails the test unless a call has succeeded.
func (k *kit) mustSucceed(what string, err error) {
	k.t.Helper()
	if err != nil {
		k.t.Fatalf("%s: %v", what, err)
	}
}

// checkRefused checks that a call has failed as one of some kinds, without a secret.
func (k *kit) checkRefused(what string, err error, kinds ...fault.Kind) {
	k.t.Helper()
	switch {
	case err == nil:
		k.t.Errorf("%s: is done; want a fault of kind %v", what, kinds)
	case !slices.Contains(kinds, fault.KindOf(err)):
		k.t.Errorf("%s: a fault of kind %v (%v); want %v", what, fault.KindOf(err), err, kinds)
	case strings.TrimSpace(err.Error()) == "":
		k.t.Errorf("%s: the fault has no text", what)
	default:
		k.checkNoSecret(what, err.Error())
	}
}

// checkNoSecret checks that a text for people holds no secret.
func (k *kit) checkNoSecret(what, text string) {
	k.t.Helper()
	for _, s := range k.Secrets {
		if len(s) > 2 && strings.Contains(text, s) {
			k.t.Errorf("%s: the text shows a login: %q", what, text)
		}
	}
}

// bad are the kinds of a value that is refused.
var bad = []fault.Kind{fault.Invalid, fault.Missing}

var oidForm = regexp.MustCompile(`^[0-9]+(\.[0-9]+)+$`)

func checkDescription(k *kit) {
	r, err := k.raw.DescribeDriver(k.testContext(), &pluginv1.DescribeDriverRequest{})
	k.mustSucceed("DescribeDriver", err)
	if r.Name == "" {
		k.t.Error("the driver has no name")
	}
	if len(k.match.Models)+len(k.match.SysObjectIDs) == 0 && k.match.SysDescr == "" {
		k.t.Error("the driver is for no switch at all: say a model, a prefix of sysObjectID, or an expression for sysDescr")
	}
	for _, m := range k.match.Models {
		if m == "" || strings.TrimSpace(m) != m {
			k.t.Errorf(
				"model %q: a model is compared exactly with a trimmed cell of the switch list",
				m,
			)
		}
	}
	for _, o := range k.match.SysObjectIDs {
		if !oidForm.MatchString(o) {
			k.t.Errorf("sysObjectID %q: write arcs, 1.3.6.1.4.1.171.10", o)
		}
	}
	if e, err := regexp.Compile(k.match.SysDescr); err != nil {
		k.t.Errorf("sysDescr: %v", err)
	} else if k.match.SysDescr != "" && e.MatchString("") {
		k.t.Errorf("sysDescr: %q matches the empty text, and so every switch", k.match.SysDescr)
	}
	all := switchdriver.Operations(k.client)
	if len(k.operations) == 0 {
		k.t.Error("the driver announces no operation")
	}
	for i, o := range k.operations {
		if !slices.Contains(all, o) {
			k.t.Errorf("operation %q is not one of %v", o, all)
		}
		if slices.Contains(k.operations[:i], o) {
			k.t.Errorf("operation %q is announced twice", o)
		}
	}
	if k.hasOperation("WritePortSettings") && !k.hasOperation("ReadPortSettings") {
		k.t.Error("a driver with WritePortSettings needs ReadPortSettings: what is written is read back")
	}
	for _, p := range [][2]string{{"WriteVlan", "DeleteVlan"}, {"WriteFdbEntry", "DeleteFdbEntry"}, {"WriteArpEntry", "DeleteArpEntry"}} {
		if k.hasOperation(p[0]) != k.hasOperation(p[1]) {
			k.t.Errorf("%s and %s belong together: announce both or none", p[0], p[1])
		}
	}
}
