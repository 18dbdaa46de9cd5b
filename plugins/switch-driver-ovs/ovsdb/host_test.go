package ovsdb

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"ctl.internal/plugins/switch-driver-ovs/bridge"
	"ctl.internal/sdk/switchdriver"
)

// realReply is what an ovsdb-server 3.1 answered to the three selects of ReadBridge.
//
//go:embed testdata/bridge.json
var realReply string

// answers is a host that gives an answer to each method, and says extra before the last.
func answers(results map[string]string, extra string) func(net.Conn) {
	return func(c net.Conn) {
		for d := json.NewDecoder(c); ; {
			var q struct {
				Method string          `json:"method"`
				ID     json.RawMessage `json:"id"`
			}
			if d.Decode(&q) != nil {
				return
			}
			if q.Method == "transact" {
				fmt.Fprint(c, extra)
			}
			result, ok := results[q.Method]
			if !ok {
				result = map[string]string{"list_dbs": `["_Server","Open_vSwitch"]`, "transact": realReply}[q.Method]
			}
			fmt.Fprintf(c, `{"id":%s,"error":null,"result":%s}`, q.ID, result)
		}
	}
}

// A host that does not use OVSDB ends a session, but not the process.
func TestLyingHosts(t *testing.T) {
	row := func(column string) map[string]string {
		return map[string]string{"transact": `[{"rows":[{"name":"br0","ports":` + column + `}]},{"rows":[]},{"rows":[]}]`}
	}
	for name, c := range map[string]struct {
		results map[string]string
		extra   string
		want    string // of the error; empty: none
	}{
		"as a real one":         {nil, "", ""},
		"an echo":               {nil, `{"method":"echo","params":[],"id":"echo"}`, ""},
		"an update":             {nil, `{"method":"update","params":[null,{"Bridge":{"x":{"new":[]}}}],"id":null}{"method":"update3","params":[],"id":null}`, ""},
		"an answer to nothing":  {nil, `{}`, "does not use OVSDB"},
		"an unknown id":         {nil, `{"id":"x","result":[],"error":null}`, "does not use OVSDB"},
		"no value":              {row(`[]`), "", ""}, // all of these are as if unset
		"a set of nothing":      {row(`["set"]`), "", ""},
		"an invalid set":        {row(`["set",7]`), "", ""},
		"an invalid UUID":       {row(`["uuid",7]`), "", ""},
		"a map of no pairs":     {row(`["map",[[]]]`), "", ""},
		"a map of objects":      {row(`["map",[[{},1]]]`), "", ""},
		"an invalid tag":        {row(`[{},[]]`), "", ""},
		"too deep":              {row(strings.Repeat("[", 20000) + strings.Repeat("]", 20000)), "", "does not use OVSDB"},
		"another database":      {map[string]string{"list_dbs": `["_Server"]`}, "", "not Open_vSwitch"},
		"no databases":          {map[string]string{"list_dbs": `{}`}, "", "does not use OVSDB"},
		"rows that are no rows": {map[string]string{"transact": `[{"rows":[7]},7,{}]`}, "", "unmarshal"},
		"nothing":               {map[string]string{"transact": `null`}, "", "only a part"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			s, err := Open(ctx, host(t, answers(c.results, c.extra)), nil)
			if err == nil {
				defer s.Close()
				_, err = s.ReadBridge("", 0x02000000000a)
			}
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// Whatever rows a host answers, reading and changing them ends, and what comes of it is
// within the bounds of the contract.
func FuzzRows(f *testing.F) {
	f.Add(realReply)
	f.Add(`[{"rows":[{"_uuid":["uuid","a"],"name":"br0","ports":["uuid","b"],"external_ids":["map",[["vlan-5","x"]]],"stp_enable":true,"status":["map",[["stp_designated_root","8000.aabbccddeeff"]]]}]},` +
		`{"rows":[{"_uuid":["uuid","b"],"name":"e1","interfaces":["set",[["uuid","c"],["uuid","d"]]],"tag":10,"trunks":["set",[1,2,-3,1e300]],"vlan_mode":"native-untagged","status":["map",[["stp_state","listening"]]]}]},` +
		`{"rows":[{"_uuid":["uuid","c"],"name":"e1","ofport":1,"ifindex":7,"admin_state":"up","link_state":"down","mac_in_use":"02:00:00:00:00:0b","link_speed":1e9},{"_uuid":["uuid","d"],"name":"e2","ofport":2}]}]`)
	f.Add(`[{"rows":[{"name":[]}]},{"rows":[]},{"rows":[]}]`)
	f.Add(`[{"error":"constraint violation","details":"x"},null]`)
	f.Fuzz(func(t *testing.T, reply string) {
		var r []result
		if json.Unmarshal([]byte(reply), &r) != nil || len(r) < 3 {
			return
		}
		b, err := bridgeOf(r, "", 0x02000000000a)
		if err != nil {
			return
		}
		for _, p := range b.Ports {
			if p.Number >= reserved || p.State() < 1 || p.State() > 6 {
				t.Errorf("port %+v", p)
			}
		}
		if root := b.Root(); root != nil && len(root) != 8 {
			t.Errorf("root %x", root)
		}
		for _, v := range b.VLANs() {
			if v.VlanId < 1 || v.VlanId > switchdriver.MaxVLANID || slices.Contains(v.EgressPorts, 0) {
				t.Errorf("VLAN %v", v)
			}
		}
		for _, change := range []func() (*bridge.State, error){
			func() (*bridge.State, error) { return b.State.Remove(10) },
			func() (*bridge.State, error) {
				return b.State.Write(&switchdriver.VLAN{VlanId: 10, Name: "x", EgressPorts: []uint32{1, 2}, UntaggedPorts: []uint32{2}}, true)
			},
		} {
			if want, err := change(); err == nil {
				if _, err := json.Marshal(append(namesOps(b, want), portOps(b, want)...)); err != nil {
					t.Error(err)
				}
			}
		}
	})
}

// Whatever a host says when it is asked, the process goes on, and the session ends.
func FuzzHost(f *testing.F) {
	f.Add(`["Open_vSwitch"]`, `{"id":2,"error":null,"result":`+realReply+`}`)
	f.Add(`["Open_vSwitch"]`, `{"method":"echo","params":[],"id":"echo"}{"id":2,"error":null,"result":[{},{},{}]}`)
	f.Add(`["Open_vSwitch"]`, `{"method":"update","params":[null,{"Bridge":{"x":{"new":{}}}}],"id":null}{"id":2,"result":null,"error":"x"}`)
	f.Add(`{"name":["Open_vSwitch"]}`, `{}`)
	f.Fuzz(func(t *testing.T, databases, said string) {
		if !json.Valid([]byte(databases)) {
			return // the rest of it is waited for
		}
		endpoint := host(t, func(c net.Conn) {
			d := json.NewDecoder(c)
			for range 2 {
				var q struct {
					Method string          `json:"method"`
					ID     json.RawMessage `json:"id"`
				}
				if d.Decode(&q) != nil {
					return
				}
				if q.Method == "list_dbs" {
					fmt.Fprintf(c, `{"id":%s,"error":null,"result":%s}`, q.ID, databases)
				} else {
					_, _ = io.WriteString(c, said)
				}
			}
		})
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		s, err := Open(ctx, endpoint, nil)
		if err != nil {
			return
		}
		defer s.Close()
		_, _ = s.ReadBridge("", 0x02000000000a)
		if ctx.Err() != nil {
			t.Error("it goes on")
		}
	})
}
