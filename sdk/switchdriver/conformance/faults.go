package conformance

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// Fault is what a simulated switch does instead of carrying out one command.
type Fault int

// The faults. Whoever asked sees: an error; that it was done, although it was not; the
// right answer, but after a second; the end of the session, of a table after its first
// line; nothing at all.
const (
	Refuses Fault = iota + 1
	Lies
	AnswersLate
	HangsUp
	Hangs
)

func (f Fault) String() string {
	return []string{"does as asked", "refuses", "says done and does nothing", "answers late", "hangs up", "answers nothing"}[f]
}

// Fake is a simulated switch with faults on demand; simline.Switch is one.
type Fake interface {
	// Plant gives the switch a fault, once: at the n-th command from now, 1 the next, of
	// those that show something (reads) or change something. It replaces the last one;
	// n 0 removes it. The channel is closed when the fault happens.
	Plant(f Fault, reads bool, n int) <-chan struct{}
	// Idle is closed when no session is open.
	Idle() <-chan struct{}
	// Ports are the ports as they are: Number, Name, AdminStatus, OperStatus.
	Ports() []*switchdriver.Port
	// SetLink connects a port, or disconnects it.
	SetLink(port uint32, up bool)
}

// maxCommands is how many commands of one change are given a fault, one at a time.
const maxCommands = 16

// hasHappened reports whether a planted fault has.
func hasHappened(hit <-chan struct{}) bool {
	select {
	case <-hit:
		return true
	default:
		return false
	}
}

// newFaultCheck checks changes at a switch with a fault: at the first command of the change,
// the second, and so on.
func newFaultCheck(f Fault) func(*kit) {
	return func(k *kit) {
		before := k.readVLANs()
		v := &switchdriver.VLAN{
			VlanId:        vlanA,
			Name:          "kit",
			EgressPorts:   k.Ports[:2],
			UntaggedPorts: k.Ports[:1],
		}
		most := maxCommands
		if f == AnswersLate {
			most = 1 // one shows it, and takes its time
		}
		for n := 1; n <= most; n++ {
			hit := k.Fake.Plant(f, false, n)
			got, err := k.client.WriteVLAN(k.testContext(), k.Switch, proto.CloneOf(v), true, true)
			if !hasHappened(hit) {
				if n == 1 {
					k.t.Fatalf("WriteVlan asks the switch to change nothing (%v)", err)
				}
				return // the change has n-1 commands
			}
			k.faultyChange(
				fmt.Sprintf("WriteVlan at a switch that %s (command %d of the change)", f, n),
				f,
				v,
				got,
				err,
				before,
			)
		}
	}
}

func (k *kit) faultyChange(
	what string,
	f Fault,
	v, got *switchdriver.VLAN,
	err error,
	before map[uint32]*switchdriver.VLAN,
) {
	k.t.Helper()
	if f == AnswersLate {
		k.mustSucceed(what, err)
		now := k.readVLANs()[v.VlanId]
		if now == nil ||
			!slices.Equal(now.EgressPorts, sortVLANPorts(v).EgressPorts) ||
			!slices.Equal(now.UntaggedPorts, v.UntaggedPorts) {
			k.t.Fatalf("%s: is done, but the switch shows %v", what, now)
		}
		k.deleteVLAN(v.VlanId)
		return
	}
	if err == nil {
		k.t.Errorf(
			"%s: the driver answers that it is done (%v); it must read back what the switch shows",
			what,
			got,
		)
	} else {
		k.deviceFault(what, err)
	}
	if now := k.readVLANs(); !equalVLANs(before, now) {
		k.t.Fatalf(
			"%s: the change is neither whole nor taken back; the switch has\n%v\nand had\n%v",
			what,
			now,
			before,
		)
	}
}

// faultyReads checks that a table that the switch does not show, or only half, is no
// answer.
func faultyReads(k *kit) {
	for _, f := range []Fault{Refuses, HangsUp} {
		k.forEachReaching(func(o string, do call) {
			if !strings.HasPrefix(o, "Read") {
				return
			}
			hit := k.Fake.Plant(f, true, 1)
			err := do(k.testContext(), k.Switch)
			switch what := fmt.Sprintf("%s at a switch that %s", o, f); {
			case !hasHappened(hit):
				k.Fake.Plant(f, true, 0)
				k.t.Errorf("%s does not ask the switch: what it answers may be old", o)
			case err == nil:
				k.t.Errorf("%s: the driver answers as if the table were whole", what)
			default:
				k.deviceFault(what, err)
			}
		})
	}
}

// readsOnly checks that what reads sends nothing that changes the switch.
func readsOnly(k *kit) {
	k.forEachOperation(func(o string, do call) {
		if before := len(k.sentCommands()); strings.HasPrefix(o, "Read") {
			_ = do(k.testContext(), k.Switch) // whether it works is checked elsewhere
			if now := k.sentCommands(); len(now) != before {
				k.t.Errorf("%s changes the switch: it sends %q", o, now[before:])
			}
		}
	})
}

// checkHangingSwitch checks calls at a switch that falls silent in the middle of a change.
func checkHangingSwitch(k *kit) {
	write := func(ctx context.Context, id uint32) error {
		return secondError(k.client.WriteVLAN(
			ctx,
			k.Switch,
			&switchdriver.VLAN{
				VlanId:      id,
				EgressPorts: k.Ports[:1],
			},
			true,
			true,
		))
	}
	hit := k.Fake.Plant(Hangs, false, 1)
	own := k.endsByItself("WriteVlan at a switch that falls silent", func(ctx context.Context) error {
		return write(ctx, vlanA)
	})
	if !hasHappened(hit) {
		k.t.Fatal("WriteVlan asks the switch to change nothing")
	}
	hit = k.Fake.Plant(Hangs, false, 1)
	ctx, cancel := context.WithCancel(k.t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- write(ctx, vlanA) }()
	if !k.waitWithin(hit) {
		k.t.Fatal("WriteVlan asks the switch to change nothing, after one that had no answer")
	}
	sent := len(k.sentCommands())
	soon, stop := context.WithTimeout(k.t.Context(), time.Second)
	err := write(soon, vlanB) // waits for its turn until its time is over
	stop()
	now := k.sentCommands()
	if err == nil || len(now) != sent {
		k.t.Errorf(
			"two changes at one switch at the same time: while one waits for the switch's answer, the other sends %q; use switchdriver.Turns",
			now[sent:],
		)
	}
	cancel()
	<-done // the client's end of it
	select {
	case <-k.Fake.Idle():
	case <-k.shortContext(own).Done():
		k.t.Fatal("a cancelled WriteVlan goes on in the plugin: the session stays open")
	}
	if _, err := k.client.ReadVLANs(k.testContext(), k.Switch); err != nil {
		k.t.Errorf("ReadVlans after a cancelled WriteVlan: %v", err)
	}
}

// waitWithin waits for an event for as long as one call may take.
func (k *kit) waitWithin(event <-chan struct{}) bool {
	select {
	case <-event:
		return true
	case <-k.testContext().Done():
		return false
	}
}

// checkPortsMatch checks the ports against those of the switch, also when one changes.
func checkPortsMatch(k *kit) {
	for _, what := range []string{"", "after a link went down", "after it came up again"} {
		if what != "" {
			k.Fake.SetLink(k.Ports[0], what != "after a link went down")
		}
		got, err := k.client.ReadPorts(k.testContext(), k.Switch)
		k.mustSucceed("ReadPorts", err)
		want := k.Fake.Ports()
		if len(got) != len(want) {
			k.t.Fatalf("ReadPorts answers %d ports, the switch has %d", len(got), len(want))
		}
		for _, w := range want {
			i := slices.IndexFunc(got, func(p *switchdriver.Port) bool {
				return p.Number == w.Number
			})
			switch {
			case i < 0:
				k.t.Errorf("the switch has port %d, but ReadPorts does not", w.Number)
			case got[i].Name != w.Name:
				k.t.Errorf(
					"port %d: ReadPorts answers the name %q, the switch calls it %q",
					w.Number,
					got[i].Name,
					w.Name,
				)
			case got[i].AdminStatus != w.AdminStatus || got[i].OperStatus != w.OperStatus:
				k.t.Errorf("port %d %s: ReadPorts answers admin status %d and oper status %d, the switch has %d and %d (1 up, 2 down)",
					w.Number, what, got[i].AdminStatus, got[i].OperStatus, w.AdminStatus, w.OperStatus)
			}
		}
	}
	select {
	case <-k.Fake.Idle():
	case <-k.testContext().Done():
		k.t.Error("the driver keeps its session at the switch after ReadPorts: the session stays open")
	}
}

// checkLogin checks that a wrong login is the list's fault, and stays a secret.
func checkLogin(k *kit) {
	const wrong = "kit-Wrong-1"
	k.Secrets = append(k.Secrets, wrong)
	sw := k.changedSwitch(func(sw *pluginv1.Switch) {
		if sw.Cli == nil {
			sw.Cli = &pluginv1.CliAccess{}
		}
		sw.Cli.Password = wrong
	})
	k.forEachReaching(func(o string, do call) {
		err := do(k.testContext(), sw)
		if err == nil || fault.KindOf(err) == fault.NotFound {
			return // the driver needs no login
		}
		k.checkRefused(o+" with a wrong password", err, append([]fault.Kind{fault.Denied}, unreachable...)...)
	})
}
