package service

import (
	"testing"
	"time"

	"ctl.internal/sdk/state"
	"ctl.internal/sdk/topology"
)

// A record is read by other nodes as it was written.
func TestRecordsAreReadAsTheyWereWritten(t *testing.T) {
	at := time.Unix(1_700_000_000, 0).UTC()
	node := topology.Node{ID: "openflow:7", Observed: at, Attributes: map[string]string{"type": "openflow"},
		TPs: map[string]topology.TerminationPoint{"openflow:7:1": {ID: "openflow:7:1", Attributes: map[string]string{"name": "eth1"}}}}
	want := record{Source: "node-1", Epoch: 9, At: at, Node: node, Datapath: 7, Since: at,
		Links: []topology.Link{{ID: "openflow:7:1", SourceNode: "openflow:7", SourceTP: "openflow:7:1", DestNode: "openflow:8", DestTP: "openflow:8:2", Observed: at}}}
	text, err := state.Packed(shortenPorts).Encode("7", want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := state.Packed(shortenPorts).Decode("7", text)
	if err != nil || sumOf(got) != sumOf(want) || got.Source != want.Source || got.Epoch != want.Epoch || !got.Node.Observed.Equal(at) {
		t.Errorf("%v: %+v, want %+v", err, got, want)
	}
}
