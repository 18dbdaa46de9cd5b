package topomirror

import (
	"encoding/json"
	"testing"

	"ctl.internal/sdk/topology"
)

// Attributes become leaves of their types; those that module ctl-topology does not have are left out.
func TestAttributes(t *testing.T) {
	l := topology.Link{ID: "l", SourceNode: "a", DestNode: "b", Attributes: map[string]string{"source": "lldp", "confirmed": "true", "node-level": "true",
		"source-members": "1,2", "destination-members": "7,8", "color": "red"}}
	raw, err := json.Marshal(renderTopology(topology.Topology{ID: "t", Links: map[string]topology.Link{"l": l}}))
	want := `{"topology-id":"t","server-provided":true,"link":[{"ctl-topology:confirmed":true,"ctl-topology:destination-members":["7","8"],` +
		`"ctl-topology:known-from":"lldp","ctl-topology:node-level":true,"ctl-topology:source-members":["1","2"],` +
		`"destination":{"dest-node":"b"},"link-id":"l","source":{"source-node":"a"}}]}`
	if err != nil || string(raw) != want {
		t.Errorf("%s %v, want %s", raw, err, want)
	}
}
