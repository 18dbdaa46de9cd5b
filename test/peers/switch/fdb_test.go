//go:build peers

package switchpeers

import (
	"encoding/json"
	"fmt"
	"testing"

	"ctl.internal/sdk/plugintest"
)

// fdb checks how many entries a recorded switch shows: those of port 0 are its own
// addresses and left out.
func fdb(t *testing.T, p *plugintest.Plugin, id string, most int) {
	t.Helper()
	var out struct {
		Entries []struct {
			VLAN int `json:"vlan-id"`
			Port int `json:"port"`
		} `json:"fdb-table-entry"`
	}
	if err := p.Call(long(t), "fdb:get-fdb-table", json.RawMessage(fmt.Sprintf(`{"node-id":%s}`, id)), &out); err != nil {
		t.Fatal(err)
	}
	if n := len(out.Entries); n > most || n < most/2 {
		t.Errorf("switch %s has %d entries, recorded are %d", id, n, most)
	}
	for _, e := range out.Entries {
		if e.Port < 1 || e.VLAN < 1 || e.VLAN > 4094 {
			t.Errorf("switch %s: entry %+v", id, e)
		}
	}
}
