package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/aaa/right"
	"ctl.internal/sdk/caller"
)

const someRights = `{"set":[{"name":"bench 3","switch":[{"node-id":"1","port":["1-6"]}],"vlan":["100-120"]}],
	"right":[{"holder":"user:ann@sdn","set":"bench 3","may":"change"},{"holder":"role:student","set":"bench 3","may":"view"}]}`

func installRights(t *testing.T, s *Server) {
	t.Helper()
	if err := s.aaa.Apply(t.Context(), aaa.RightsNode, json.RawMessage(someRights)); err != nil {
		t.Fatal(err)
	}
}

// Rights that are installed change no answer for anybody else, whatever address of whatever is there is asked for; who has one may
// call what says what it acts on, by no address more.
func TestRightsThatAreInstalledChangeNoOtherAnswer(t *testing.T) {
	c, all := things(t)
	s := serverWith(t, c, "[urls]\n/auth/v1/** = authcBasic, roles[admin]\n/** = authcBasic, dynamicAuthorization\n")
	paths := append(slices.Concat(all...), "/", "/auth/v1/users", "/anything/else", "/web/me", "/web/events")
	answers := func(users ...caller.Caller) map[string]bool {
		out := map[string]bool{}
		for _, who := range users {
			ctx := caller.With(t.Context(), who)
			for _, path := range paths {
				for _, method := range []string{"GET", "POST", "PUT", "DELETE"} {
					out[fmt.Sprint(who.ID(), who.Roles, method, path)] = s.aaa.Allows(ctx, who, method, path) == nil
				}
			}
		}
		return out
	}
	others := []caller.Caller{
		{User: "admin", Domain: "sdn", Roles: []string{"admin"}},
		{User: "ann", Domain: "sdn", Roles: []string{"user", "admin"}}, // the role admin is not confined
		{User: "user", Domain: "sdn", Roles: []string{"user"}},
		{User: "ann", Domain: "ldap", Roles: []string{"user", "students"}},
		{User: "bob", Domain: "sdn"},
	}
	before := answers(others...)
	installRights(t, s)
	for what, after := range answers(others...) {
		if before[what] != after {
			t.Errorf("%s: %v before, %v after", what, before[what], after)
		}
	}
	operations := 0
	for _, who := range []caller.Caller{
		{User: "ann", Domain: "sdn", Roles: []string{"user"}},
		{User: "eve", Domain: "ldap", Roles: []string{"user", "student"}},
	} {
		for what, ok := range answers(who) {
			_, path, _ := strings.Cut(what, "]")
			path = path[strings.Index(path, "/"):]
			r := s.catalog.Installed().Schema.RPC(s.addressOf(path).Module, s.addressOf(path).Node)
			acts := strings.Contains(what, "]POST/") && strings.Contains(path, "operations/") && r != nil && r.Annotations.ActsOn != ""
			if ok != acts {
				t.Errorf("%s: %v, want %v", what, ok, acts)
			}
			if acts {
				operations++
			}
		}
	}
	if len(before) < 5_000 || operations < 30 {
		t.Errorf("only %d answers were compared, and %d operations", len(before), operations)
	}
}

// What an output shows beyond the sets is left out, and rows that say of nothing what they are about.
func TestRowsOutsideTheSetsAreLeftOut(t *testing.T) {
	c, _ := things(t)
	s := serverWith(t, c, "[urls]\n/** = authcBasic\n")
	installRights(t, s)
	ctx := caller.With(t.Context(), caller.Caller{User: "ann", Domain: "sdn", Roles: []string{"user"}})
	scope, err := s.scopeOf(ctx)
	if err != nil || scope == nil {
		t.Fatal(scope, err)
	}
	for _, x := range []struct{ module, rpc, node, output, want string }{
		{"switch", "ports", "1", `{"node-id":"1","partial":["x"],"entry":[{"port":"a","number":1,"pvid":1},{"port":"b","number":7},{"port":"c"}]}`, `{"entry":[{"number":1,"port":"a","pvid":1}],"node-id":"1","partial":["x"]}`},
		{"switch", "ports", "2", `{"node-id":"2","entry":[{"number":1}]}`, `{"entry":[]}`},
		{"switch", "vlans", "", `{"entry":[{"node-id":"1","vlan-id":100,"tagged-port":["a","b","both"],"untagged-port":["none"]},{"node-id":"1","vlan-id":99},{"node-id":"2","vlan-id":100}],"mismatch":[{"vlan-id":100,"node-id":"1"}],"link":[{"node-id":"1","port":"a"}],"partial":["sw2: silent"]}`, `{"entry":[{"node-id":"1","tagged-port":["a"],"untagged-port":[],"vlan-id":100}],"link":[],"mismatch":[]}`},
		{"switch", "fdb", "1", `{"entry":[{"vlan-id":100,"number":1,"mac-address":"m"},{"vlan-id":100,"number":7},{"vlan-id":1,"number":1},{"vlan-id":0,"number":2}],"next-cursor":"c","unknown":1}`, `{"entry":[{"mac-address":"m","number":1,"vlan-id":100},{"number":2,"vlan-id":0}],"next-cursor":"c"}`},
		{"vlan", "get-vlan-table", "1", `{"vlan-table-entry":[{"vlan-id":100,"port-list":[1,7]},{"vlan-id":1,"port-list":[1]}]}`, `{"vlan-table-entry":[{"port-list":[1],"vlan-id":100}]}`},
		{"switch-port", "get-ports", "1", `{"node-id":"1","entry":[{"number":6},{"number":7}],"power-supply":[{"group":1}]}`, `{"entry":[{"number":6}],"node-id":"1","power-supply":[]}`},
		{"switch", "counters", "1", `{"node-id":"1","entry":[{"number":"x"},{"number":"2"}]}`, `{"entry":[{"number":"2"}],"node-id":"1"}`},
	} {
		object, err := decodeObject([]byte(x.output))
		if err != nil {
			t.Fatal(err)
		}
		p := &rowPruner{
			scope: scope,
			names: map[string]map[string][]uint32{},
			ports: func(node string) ([]named, error) {
				port := func(n uint32, name string) named { return named{right.Resource{Node: node, Port: n}, name} }
				return []named{port(0, ""), port(1, "a"), port(7, "b"), port(2, "both"), port(8, "both")}, nil
			},
		}
		var input []right.Resource
		if x.node != "" {
			input = append(input, right.Resource{Node: x.node})
		}
		p.pruneTop(c.Installed().Schema.RPC(x.module, x.rpc).Output, object, input)
		got, err := json.Marshal(object)
		if err != nil || string(got) != x.want {
			t.Errorf("%s:%s\n got %s %v\nwant %s", x.module, x.rpc, got, err, x.want)
		}
	}
}

// Each operation that says what it acts on names one that is there and changes nothing.
func TestOperationsThatSayWhatTheyActOn(t *testing.T) {
	c, _ := things(t)
	s := serverWith(t, c, "[urls]\n/** = authcBasic\n")
	found := 0
	for _, m := range c.Installed().Schema.Modules() {
		for _, r := range m.RPCs {
			if r.Annotations.ActsOn == "" {
				continue
			}
			found++
			module, rpc, _ := strings.Cut(r.Annotations.ActsOn, ":")
			if c.Installed().Schema.RPC(module, rpc) == nil || !s.readsOnly(module, rpc) {
				t.Errorf("%s:%s acts on what %s says, which is not there or changes something", r.Module, r.Name, r.Annotations.ActsOn)
			}
			if got := s.aaa.Allows(t.Context(), caller.Caller{User: "admin", Domain: "sdn", Roles: []string{"admin"}}, http.MethodPost, operationPath(r.Module, r.Name)); got != nil {
				t.Error(got)
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d operations say what they act on", found)
	}
}
