package discovery

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/switchlist"
	"ctl.internal/sdk/switchdriver"
)

// tables is a switch without neighbours that has learned addresses.
func tables(n int, e Evidence) *Observation {
	o := sw(n)
	o.Marks.At, o.Evidence = time.Unix(1, 0), &e
	return o
}

// Switches that do not answer, above or below others that report no neighbours: one that has never answered is never
// passed over by a link, and one that has fallen silent keeps its links.
func TestLinksAtSilentSwitches(t *testing.T) {
	gateway := mac(100)
	top := func(silent ...mib.MAC) *Observation {
		return tables(1, Evidence{Seen: map[string][]mib.MAC{"1": {mac(3)}, "4": {gateway}}, Silent: map[string][]mib.MAC{"1": silent}})
	}
	bottom := func(silent map[string][]mib.MAC) *Observation {
		return tables(3, Evidence{Seen: map[string][]mib.MAC{"1": {mac(1), gateway}}, Silent: silent})
	}
	fell := tables(2, Evidence{Seen: map[string][]mib.MAC{"1": {mac(1), gateway}, "2": {mac(3)}}})
	fell.Stale = true
	direct, below := []string{"1/1>3/1?", "3/1>1/1?"}, []string{"1/1>2/1?", "2/1>1/1?", "2/2>3/1?", "3/1>2/2?"}
	for _, c := range []struct {
		name string
		obs  []*Observation
		want []string
	}{
		{"nobody is silent", []*Observation{top(), bottom(nil)}, direct},
		{"one that has never answered is between", []*Observation{top(mac(2)), bottom(nil)}, nil},
		{"and the lower one sees it above", []*Observation{top(mac(2)), bottom(map[string][]mib.MAC{"1": {mac(2)}})}, nil},
		{"one that has never answered is below both", []*Observation{top(mac(2)), bottom(map[string][]mib.MAC{"2": {mac(2)}})}, direct},
		{"one between has fallen silent", []*Observation{
			tables(1, Evidence{Seen: map[string][]mib.MAC{"1": {mac(2), mac(3)}, "4": {gateway}}}), fell,
			tables(3, Evidence{Seen: map[string][]mib.MAC{"1": {mac(1), mac(2), gateway}}})}, below},
		{"and is seen by nobody any more", []*Observation{top(), fell, bottom(nil)}, []string{"2/2>3/1?", "3/1>2/2?"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := edges(Build(c.obs, time.Unix(0, 0)))
			if len(got) > 0 || len(c.want) > 0 {
				if d := cmp.Diff(c.want, got); d != "" {
					t.Error("edges (-want +got):\n" + d)
				}
			}
		})
	}
}

// A discovery asks for the addresses of all switches of the list: those that do not answer may be between others.
func TestSilentSwitchesAreLookedFor(t *testing.T) {
	inventory := switchlist.New(nil)
	inventory.Set("list", entries(uint64(mac(1)), uint64(mac(2)), uint64(mac(3))), nil)
	s := New(Options{Inventory: inventory,
		Observe: func(_ context.Context, x *switchdriver.Switch) (*Observation, error) {
			if x.NodeId == uint64(mac(2)) {
				return nil, errors.New("no answer")
			}
			return tables(int(x.NodeId&0xff), Evidence{}), nil
		},
		Infer: func(_ context.Context, x *switchdriver.Switch, _ *Observation, want map[mib.MAC]bool) (*Evidence, error) {
			if !want[mac(2)] {
				t.Error("the address of the switch that does not answer is not wanted")
			}
			if x.NodeId == uint64(mac(1)) {
				return &Evidence{Seen: map[string][]mib.MAC{"1": {mac(2), mac(3)}, "4": {mac(100)}}}, nil
			}
			return &Evidence{Seen: map[string][]mib.MAC{"1": {mac(1), mac(100)}}}, nil
		}})
	t.Cleanup(s.Close)
	if _, err := s.Discover(t.Context(), All, nil); err != nil {
		t.Fatal(err)
	}
	if got := edges(s.Network()); len(got) > 0 {
		t.Errorf("links past a switch that does not answer: %v", got)
	}
	e := s.Observation(mac(1)).Evidence
	if !slices.Equal(e.Silent["1"], []mib.MAC{mac(2)}) || slices.Contains(e.Seen["1"], mac(2)) {
		t.Errorf("evidence %+v", e)
	}
}
