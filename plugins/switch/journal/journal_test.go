package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/plugintest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, h *plugintest.Host) *Journal {
	t.Helper()
	j, err := Open(t.Context(), h.Client(t, &pluginv1.Manifest{Name: "switch"}).Datastore, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func begin(t *testing.T, j *Journal, node uint64, what string) *Change {
	t.Helper()
	c, err := j.Begin(t.Context(), Record{Node: node, What: what, Steps: []Step{{What: "s", Assigns: []Assignment{{OID: ".1", Kind: Integer, From: Number(1), To: Number(2)}}}}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What was not done is found by the next process, the latest first, once.
func TestLeft(t *testing.T) {
	h := plugintest.NewHost(t)
	j := open(t, h)
	begin(t, j, 7, "first")
	begin(t, j, 7, "second")
	begin(t, j, 8, "finished").Done(t.Context())
	if err := j.Take(t.Context()); err != nil || len(j.Nodes()) != 0 {
		t.Errorf("a process finds its own changes: %v %v", j.Nodes(), err)
	}
	next := open(t, h)
	if err := next.Take(t.Context()); err != nil {
		t.Fatal(err)
	}
	left := next.Unsettled(7)
	if len(left) != 2 || left[0].What != "second" || *left[0].Steps[0].Assigns[0].To != "2" || len(next.Nodes()) != 1 {
		t.Fatalf("%+v", left)
	}
	if err := next.Settle(t.Context(), left[0], Undone, ""); err != nil {
		t.Fatal(err)
	}
	last := open(t, h)
	if err := last.Take(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := last.Unsettled(7); len(got) != 1 || got[0].What != "first" {
		t.Errorf("%+v", got)
	}
	if r := last.Reports(); len(r) != 1 || r[0].What != "second" || r[0].Outcome != Undone {
		t.Errorf("%+v", r)
	}
}

// The forms that the plugin writes: of its own steps, and of a driver's operation.
const (
	stepsForm = `{"id":"20261122T060000.000000001-1","node":2199023255553,"switch":"02:00:00:00:00:01 (127.0.0.1)","what":"setting VLAN 5","begun":"2026-11-22T06:00:00Z",` +
		`"steps":[{"what":"VLAN 5","assigns":[{"oid":".1.3.6.1.2.1.17.7.1.4.3.1.5.5","kind":"row","to":"1"},{"oid":".1.3.6.1.2.1.17.7.1.4.3.1.2.5","kind":"octets","from":"c000","to":"e000"},{"oid":".1.3.6.1.2.1.17.7.1.4.5.1.1.3","kind":"gauge","from":"1","to":"5"}]}]}`
	operationForm = `{"id":"20261122T060000.000000001-2","node":2199023255553,"switch":"02:00:00:00:00:01 (127.0.0.1)","what":"access lists: ACTION_SET_RULE","begun":"2026-11-22T06:00:00Z",` +
		`"operation":{"driver":"switch-driver-dlink","name":"ApplyAcl","acl":{"action":3,"profile":{"profile_id":1},"rule":{"rule_id":3,"ports":[1,2],"layer":"IP","src_ip":"192.0.2.0","action":"DENY"}}}}`
)

// A record that is damaged, or of a release that this one does not know, is left alone:
// it neither ends the process nor keeps its switch from being changed.
func TestDamaged(t *testing.T) {
	h := plugintest.NewHost(t)
	ds := h.Client(t, &pluginv1.Manifest{Name: "switch"}).Datastore
	good := 0
	for _, form := range []string{stepsForm, operationForm} {
		for _, c := range [][2]string{
			{"", ""}, {`"id":"`, `"id":"x`}, {`"node":2199023255553`, `"node":0`}, {`"node":2199023255553`, `"node":281474976710656`}, {`}`, ``},
			{`"ApplyAcl"`, `"WriteFdbEntry"`}, {`"ApplyAcl"`, `"WriteArpEntry"`}, {`"ApplyAcl"`, `"DeleteVlan"`}, {`"ApplyAcl"`, `"Dance"`},
			{`".1.3.6.1.2.1.17.7.1.4.3.1.2.5"`, `".1.3.x"`}, {`".1.3.6.1.2.1.17.7.1.4.3.1.2.5"`, `".1.3.4294967296"`},
			{`"e000"`, `"e00"`}, {`"kind":"gauge"`, `"kind":"colour"`}, {`"to":"5"`, `"to":"five"`},
		} {
			value := strings.Replace(form, c[0], c[1], 1)
			if value == form && c[0] != "" {
				continue
			}
			var r Record
			_ = json.Unmarshal([]byte(form), &r)
			key := openPrefix + r.ID
			if c[0] != "" {
				key = openPrefix + fmt.Sprintf("%s.%d", r.ID, good)
				value = strings.Replace(value, r.ID, fmt.Sprintf("%s.%d", r.ID, good), 1)
			}
			good++
			if err := ds.Put(t.Context(), host.Private, key, []byte(value)); err != nil {
				t.Fatal(err)
			}
		}
	}
	j := open(t, h)
	if err := j.Take(t.Context()); err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, n := range j.Nodes() {
		for _, r := range j.Unsettled(n) {
			found = append(found, r.What)
		}
	}
	slices.Sort(found)
	if got := strings.Join(found, ", "); got != "access lists: ACTION_SET_RULE, setting VLAN 5" {
		t.Errorf("taken: %s", got)
	}
}

// Whatever stands in the journal, it is read or refused; what is read can be settled,
// and is the same when it is written again.
func FuzzRecord(f *testing.F) {
	f.Add(openPrefix+"20261122T060000.000000001-1", []byte(stepsForm))
	f.Add(openPrefix+"20261122T060000.000000001-2", []byte(operationForm))
	f.Add(openPrefix+"a", []byte(`{"id":"a","node":1,"operation":{"driver":"vendor-file","name":"WriteVlan","vlan":{"vlan_id":5},"before":null}}`))
	f.Add(openPrefix+"a", []byte(`{"id":"a","node":1,"steps":null}`))
	f.Fuzz(func(t *testing.T, key string, value []byte) {
		r, err := decode(key, value)
		if err != nil {
			return
		}
		if o := r.Operation; o != nil && o.VLAN == nil && o.FDB == nil && o.ARP == nil && o.Name != "WriteStp" && o.Name != "ApplyAcl" {
			t.Errorf("an operation on nothing: %+v", o)
		}
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		again, err := decode(key, b)
		if err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if c, _ := json.Marshal(again); !bytes.Equal(b, c) {
			t.Errorf("%s\n%s", b, c)
		}
	})
}

func TestReportsAreBounded(t *testing.T) {
	h := plugintest.NewHost(t)
	j := open(t, h)
	for i := range maxReports + 5 {
		c := begin(t, j, 7, fmt.Sprint(i))
		c.Keep()
		if err := j.Settle(t.Context(), c.r, Whole, ""); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(open(t, h).Reports()); n != maxReports {
		t.Errorf("%d reports", n)
	}
}

// A store that does not take the record keeps the change from beginning.
func TestNoJournalNoChange(t *testing.T) {
	h := plugintest.NewHost(t)
	j := open(t, h)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := j.Begin(ctx, Record{Operation: &Operation{Name: "WriteVlan"}}); err == nil {
		t.Error("a change begins that is not in the journal")
	}
	var none *Journal
	c, err := none.Begin(ctx, Record{})
	c.Keep()
	c.Done(ctx)
	if err != nil || none.Take(ctx) != nil || none.Nodes() != nil || none.Reports() != nil {
		t.Error("no journal at all is not taken for one")
	}
}

// The next process has its turn when the one before has ended.
func TestTurn(t *testing.T) {
	dir := t.TempDir()
	first, release, err := Turn(dir)
	if err != nil {
		t.Fatal(err)
	}
	within(t, first)
	second, end, err := Turn(dir)
	if err != nil {
		t.Fatal(err)
	}
	third, giveUp, err := Turn(dir)
	if err != nil {
		t.Fatal(err)
	}
	giveUp() // while it waits
	select {
	case <-second:
		t.Error("two have their turn")
	case <-third:
		t.Error("one that gave up has its turn")
	default:
	}
	release()
	within(t, second)
	end()
}

func within(t *testing.T, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(time.Minute):
		t.Fatal("never its turn")
	}
}
