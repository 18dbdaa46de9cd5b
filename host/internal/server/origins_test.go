package server

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/aaa/act"
	"ctl.internal/host/internal/aaa/policy"
	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/host/internal/restconf"
	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/internal/yang"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// closedServer has the modules of all plugins, and policies that close a topology and a node of another one to role user.
func closedServer(t *testing.T) *Server {
	t.Helper()
	c, _ := things(t)
	s := serverWith(t, c, "[urls]\n/** = authcBasic, dynamicAuthorization\n")
	const all = "/rests/data/network-topology:network-topology/topology"
	var policies []policy.Policy
	for _, resource := range []string{all + "=closed", all + "=closed/**", all + "=open/node=hidden"} {
		permission := policy.Permission{Role: "admin", Actions: []string{"get", "put", "post", "patch", "delete"}}
		policies = append(policies, policy.Policy{Resource: resource, Permissions: []policy.Permission{permission}})
	}
	if err := s.aaa.Policies().Set(policies); err != nil {
		t.Fatal(err)
	}
	return s
}

// Data that is made of a closed tree is closed, too, at each of its addresses.
func TestCopiesOfClosedDataAreClosed(t *testing.T) {
	s := closedServer(t)
	readable := func(path string) (may, all bool) { return false, false }
	front := s.aaa.Filter(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		readable = aaa.Readable(r.Context())
	}))
	ask := func(method, path, user string) int {
		r := httptest.NewRequest(method, path, nil)
		r.SetBasicAuth(user, user)
		w := httptest.NewRecorder()
		front.ServeHTTP(w, r)
		return w.Code
	}
	const bier, channels = "bier-topology:bier-network-topology/bier-topology=", "bier-channel:bier-network-channel/bier-channel="
	for _, path := range []string{
		"/rests/data/" + bier + "closed", "/restconf/config/bier-topology:bier-network-topology/bier-topology/closed",
		"/restconf/operational/bier-topology:bier-network-topology/bier-topology/closed", "/rests/data/" + bier + "closed/bier-node=n1",
		"/rests/data/" + bier + "open/bier-node=hidden", "/rests/data/" + channels + "closed", "/rests/data/" + channels + "closed/channel=c",
		"/rests/streams/json/data-change/running/" + bier + "closed", "/rests/streams/json/data-change/running/bier-topology:bier-network-topology",
	} {
		if got := ask("GET", path, "user"); got != http.StatusUnauthorized {
			t.Errorf("GET %s as user: %d", path, got)
		}
		if got := ask("GET", path, "admin"); got != http.StatusOK {
			t.Errorf("GET %s as admin: %d", path, got)
		}
	}
	for path, want := range map[string]int{
		bier + "closed/bier-domain=1": http.StatusUnauthorized, bier + "open/bier-domain=1": http.StatusOK, bier + "open/bier-node=n1": http.StatusOK,
		bier + "open/bier-node=hidden": http.StatusUnauthorized, "bier-topology:bier-network-topology": http.StatusUnauthorized, channels + "open": http.StatusOK,
	} {
		if got := ask("PUT", "/rests/data/"+path, "user"); got != want {
			t.Errorf("PUT %s as user: %d, want %d", path, got, want)
		}
	}
	for _, path := range []string{"/rests/data/" + bier + "open", "/rests/data/bier-topology:bier-network-topology", "/rests/data"} {
		if got := ask("GET", path, "user"); got != http.StatusOK || readable == nil {
			t.Fatalf("GET %s as user: %d, pruned %v", path, got, readable != nil)
		}
	}
	for path, want := range map[string]string{bier + "closed": "false false", bier + "open": "true false", bier + "open/bier-node=hidden": "false false", bier + "open/bier-node=n1": "true true"} {
		may, all := readable("/rests/data/" + path)
		if got := fmt.Sprint(may, " ", all); got != want {
			t.Errorf("%s may be read: %s, want %s", path, got, want)
		}
	}
	x, err := s.aaa.Explain(t.Context(), "user", "GET", "/rests/data/"+bier+"closed")
	if err != nil || x.Allowed || !strings.Contains(x.Reason, "network-topology/topology=closed") {
		t.Errorf("explained as %+v, %v", x, err)
	}
}

// Operations and events keep back what is closed at its original.
func TestOperationsAndEventsAreWithoutClosedEntries(t *testing.T) {
	s := closedServer(t)
	as := func(user string) context.Context {
		return caller.With(t.Context(), caller.Caller{User: user, Domain: "sdn", Roles: []string{user}, Address: "127.0.0.1:1"})
	}
	for _, module := range []string{"bier-topology-api", "bier-channel-api", "bier-service-api", "bier-oam-api", "openflow-topology"} {
		if s.disclosureTo(as("admin"), module) != nil || s.disclosureTo(as("user"), module) == nil {
			t.Errorf("%s: kept from admin %v, from user %v", module, s.disclosureTo(as("admin"), module) != nil, s.disclosureTo(as("user"), module) != nil)
		}
	}
	anonymous := s.disclosureTo(caller.With(t.Context(), caller.Caller{Address: "127.0.0.1:1"}), "bier-topology-api")
	if anonymous == nil {
		t.Fatal("nothing is kept from callers who are not known")
	}
	if _, err := anonymous.refuseInput([]byte(`{"topology-id": "open"}`)); fault.KindOf(err) != fault.Denied {
		t.Errorf("a caller who is not known: %v", err)
	}
	if s.disclosureTo(as("user"), "ctl-system") != nil || s.disclosureTo(aaa.AsPlugin(t.Context(), "x"), "bier-topology-api") != nil {
		t.Error("an operation that is made of no tree, or of a plugin itself, is restricted")
	}
	if s.disclosureTo(caller.With(t.Context(), caller.Caller{User: "x", Domain: aaa.PluginDomain}), "bier-topology-api") == nil {
		t.Error("nothing is kept from a user whose domain is called like that of plugins")
	}
	served := aaa.Through(caller.With(t.Context(), caller.Caller{User: "x", Domain: aaa.PluginDomain}), aaa.AsPlugin(t.Context(), "x"))
	if s.disclosureTo(served, "bier-topology-api") != nil {
		t.Error("what is called while a call of a plugin is served is restricted")
	}
	for _, c := range []struct{ module, input, output, want string }{
		{"bier-topology-api", `{"topology-id": "closed"}`, "", "refused"},
		{"bier-topology-api", `{"topology-id": "open", "node": ["n1", "hidden"]}`, "", "refused"},
		{"bier-topology-api", `{"topology-id": "open", "node": ["n1"]}`, `{"node": [{"node-id": "n1"}]}`, `{"node": [{"node-id": "n1"}]}`},
		{"bier-topology-api", `{}`, `{"topology": [{"topology-id": "closed"}, {"topology-id": "open"}]}`, `{"topology":[{"topology-id":"open"}]}`},
		{"bier-topology-api", `{"topology-id": "open"}`, `{"topology-id": "open", "node-id": [{"node-id": "n1"}, {"node-id": "hidden"}]}`, `{"node-id":[{"node-id":"n1"}],"topology-id":"open"}`},
		{"bier-topology-api", `{"topology-id": "open"}`, `{"subdomain-node": [{"node-id": "hidden"}]}`, `{"subdomain-node":[]}`},
		{"bier-channel-api", `{"topology-id": "closed"}`, "", "refused"},
		{"bier-oam-api", `{"topology-id": "closed", "channel-name": "c"}`, "", "refused"}, // stop-echo-request
		{"bier-oam-api", `{}`, `{"echo-request": [{"topology-id": "closed", "node-id": ["n1"]}, {"topology-id": "open", "node-id": ["hidden", "n1"]}]}`,
			`{"echo-request":[{"node-id":["n1"],"topology-id":"open"}]}`},
		{"bier-channel-api", `{}`, `{"topology-id": "closed", "channel": []}`, "refused"},
		{"bier-channel-api", `{}`, ``, ``},
	} {
		d := s.disclosureTo(as("user"), c.module)
		names, err := d.refuseInput([]byte(c.input))
		got := "refused"
		var out []byte
		if err == nil {
			out, err = d.pruneOutput([]byte(c.output), names)
		}
		if err == nil {
			got = string(out)
		} else if fault.KindOf(err) != fault.Denied {
			t.Fatal(err)
		}
		if got != c.want {
			t.Errorf("%s %s: %s, want %s", c.module, c.input, got, c.want)
		}
	}
	for _, c := range []struct {
		name, data string
		want       bool
	}{
		{"bier-topology-api:topo-change", `{"topo-id": "closed"}`, false},
		{"bier-topology-api:link-add", `{"topo-id": "other", "add-link": {"link-id": "l"}}`, true},
		{"bier-topology-api:link-add", `{"topo-id": "open", "add-link": {"link-id": "l"}}`, false}, // not all of it may be read
		{"openflow-topology:topology-changed", `{"topology-id": "closed", "added-node": ["n"]}`, false},
		{"openflow-topology:topology-changed", `{"topology-id": "other", "added-node": ["n"]}`, true},
	} {
		if got := s.eventVisible(as("user"), &restconf.Event{Name: c.name, Data: []byte(c.data)}); got != c.want {
			t.Errorf("%s %s is visible: %v", c.name, c.data, got)
		}
		if !s.eventVisible(as("admin"), &restconf.Event{Name: c.name, Data: []byte(c.data)}) {
			t.Errorf("%s %s is not visible to admin", c.name, c.data)
		}
	}
}

// A plugin that reads what all sources observe answers texts: a call of its operations names a topology of which the caller may
// read all, unless that holds for all of them.
func TestOperationsThatReadAllTopologiesNameOne(t *testing.T) {
	s := closedServer(t)
	as := func(user string) context.Context {
		return caller.With(t.Context(), caller.Caller{User: user, Domain: "sdn", Roles: []string{user}, Address: "127.0.0.1:1"})
	}
	if s.disclosureTo(as("admin"), "lab") != nil {
		t.Error("something is kept from admin")
	}
	d := s.disclosureTo(as("user"), "lab")
	if d == nil {
		t.Fatal("nothing is kept from user")
	}
	for input, want := range map[string]string{
		``:                                   "name a topology-id that you may read",
		`{}`:                                 "name a topology-id that you may read",
		`{"document": "links: []"}`:          "name a topology-id that you may read",
		`{"topology-id": "closed"}`:          "'closed'], of which the caller may not read all: name a topology-id that you may read",
		`{"topology-id": "open"}`:            "'open'], of which the caller may not read all", // a node of it is closed
		`{"topology-id": "other"}`:           "",
		`{"node": {"topology-id": "other"}}`: "name a topology-id that you may read",
	} {
		_, err := d.refuseInput([]byte(input))
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", input, err)
		case want != "" && (fault.KindOf(err) != fault.Denied || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %q", input, err, want)
		}
	}
}

// A role may permit such an operation for topologies that it names.
func TestOperationsOfLabsNameTheirTopology(t *testing.T) {
	s := closedServer(t)
	for _, rpc := range []string{"check", "export"} {
		if got := s.namedBy("lab", rpc, []byte(`{"topology-id": "other", "document": "links: []"}`)); !slices.Equal(got, []string{"other"}) {
			t.Errorf("lab:%s acts on %q", rpc, got)
		}
	}
}

// The console's commands of such a plugin are asked the same, but on the machine of the controller.
func TestCommandsThatReadAllTopologiesNameOne(t *testing.T) {
	s := closedServer(t)
	for _, c := range []struct {
		plugin, user, address, topology string
		denied                          bool
	}{
		{"lab", "user", "127.0.0.1:1", "", true},
		{"lab", "user", "127.0.0.1:1", "closed", true},
		{"lab", "user", "127.0.0.1:1", "open", true},
		{"lab", "user", "127.0.0.1:1", "other", false},
		{"lab", "admin", "127.0.0.1:1", "", false},
		{"lab", "user", "", "closed", false},
		{"switch", "user", "127.0.0.1:1", "", false},
	} {
		in := &commands.Invocation{
			Name:    "lab:export",
			Options: map[string]string{"form": "lab"},
			Caller:  caller.Caller{User: c.user, Domain: "sdn", Roles: []string{c.user}, Address: c.address},
		}
		if c.topology != "" {
			in.Options["topology"] = c.topology
		}
		err := s.permitsCommand(t.Context(), c.plugin, in)
		if (fault.KindOf(err) == fault.Denied) != c.denied || (err != nil) != c.denied {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Who writes a policy is answered what else it decides.
func TestAPolicySaysWhatIsMadeOfItsResource(t *testing.T) {
	s := closedServer(t)
	one := &act.Act{}
	content := `{"policies": {"policies": [{"resource": "/restconf/config/network-topology:network-topology/topology/t/**"}, {"resource": "/restconf/modules/**"}, {"resource": "/**"}]}}`
	s.notifyOfCopies(act.With(t.Context(), one), []byte(content))
	got := strings.Join(one.Notices(), "\n")
	for _, want := range []string{"bier-topology:bier-network-topology", "bier-channel:bier-network-channel", "bier-topology-api", "openflow-topology", "lab"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not named: %s", want, got)
		}
	}
	if len(one.Notices()) != 1 || !strings.HasPrefix(got, "the policy for /restconf/config/network-topology:network-topology/topology/t holds for") {
		t.Errorf("the notices are %q", one.Notices())
	}
}

// Operations and events that name nodes and no topology, such as get-edge-list, keep back what is closed in the topology that their
// plugin observes, and only that.
func TestOutputsThatNameNoTopologyAreWithoutClosedEntries(t *testing.T) {
	s := closedServer(t)
	store := storetest.New(storetest.Options{})
	t.Cleanup(func() { store.Close() })
	s.store = store
	var txn datastore.Txn
	for id, source := range map[string]string{"switch%3A1": "switch", "switch%3A1-b": "other", "switch%3A10": "switch", "flow%3A1": "openflow"} {
		name, _ := url.PathUnescape(id)
		value := fmt.Sprintf(`{"topology-id":%q,"server-provided":true,"ctl-topology:source":%q}`, name, source)
		txn.Ops = append(txn.Ops,
			datastore.Put(tree.OperationalNamespace, topologyTree+id, []byte(value)),
			datastore.Put(tree.OperationalNamespace, topologyTree+id+"/node=7", []byte(`{"node-id":"7"}`)))
	}
	if _, err := store.Commit(t.Context(), txn); err != nil {
		t.Fatal(err)
	}
	own, err := s.topologiesOf(t.Context(), "switch")
	if slices.Sort(own); err != nil || !slices.Equal(own, []string{"switch:1", "switch:10"}) {
		t.Fatalf("the plugin observes %v, %v", own, err)
	}
	const at = "/rests/data/network-topology:network-topology/topology="
	only := []policy.Permission{{Role: "admin", Actions: []string{"get"}}}
	if err := s.aaa.Policies().Set([]policy.Policy{
		{Resource: at + "switch:1/node=7", Permissions: only},
		{Resource: at + "flow:1/node=8", Permissions: only},
	}); err != nil {
		t.Fatal(err)
	}
	as := func(user string) context.Context {
		return caller.With(t.Context(), caller.Caller{User: user, Domain: "sdn", Roles: []string{user}, Address: "127.0.0.1:1"})
	}
	if s.disclosureTo(as("admin"), "topology") != nil {
		t.Error("something is kept from admin")
	}
	d := s.disclosureTo(as("user"), "topology")
	if d == nil {
		t.Fatal("nothing is kept from user")
	}
	row := func(tail, head string) string {
		return fmt.Sprintf(`{"head-node-id":%q,"tail-node-id":%q}`, head, tail)
	}
	output := `{"edge-list-entry":[` + strings.Join([]string{row("7", "8"), row("8", "7"), row("8", "9"), row("7", "7")}, ",") + `]}`
	names, err := d.refuseInput([]byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	out, err := d.pruneOutput([]byte(output), names)
	if want := `{"edge-list-entry":[` + row("8", "9") + `]}`; err != nil || string(out) != want {
		t.Errorf("the edges are %s, %v; want %s", out, err, want)
	}
	vlan := s.disclosureTo(as("user"), "vlan")
	for input, want := range map[string]fault.Kind{`{"node-id":7}`: fault.Denied, `{"node-id":8}`: 0, `{"node-id":77}`: 0} {
		if _, err := vlan.refuseInput([]byte(input)); (err == nil) != (want == 0) || err != nil && fault.KindOf(err) != want {
			t.Errorf("%s: %v", input, err)
		}
	}
	for data, want := range map[string]bool{`{"added-node":["7"]}`: false, `{"added-node":["8"]}`: true, `{"added-edge":[` + row("8", "7") + `]}`: false, `{"silent-node":["9","7"]}`: false} {
		if got := s.eventVisible(as("user"), &restconf.Event{Name: "switch-topology:topology-changed", Data: []byte(data)}); got != want {
			t.Errorf("%s is visible: %v", data, got)
		}
	}
}

// Names that an object has for the same key go each with each, and not with more than can be asked about.
func TestNamesGoEachWithEach(t *testing.T) {
	from := &original{lists: []*entries{{key: "a-id", list: "a", below: []*entries{{key: "b-id", list: "b"}, {key: "c-id", list: "c"}}}}}
	d := &disclosure{origins: &origins{names: map[string]string{"from-a": "a-id", "to-a": "a-id", "from-b": "b-id", "to-b": "b-id", "same-b": "b-id"}}}
	names, all := d.namesIn(from, map[string]any{"from-a": "1", "to-a": "2", "from-b": "3", "to-b": "4", "same-b": "4", "c-id": "5", "x": "6"}, map[string]string{"o": "7"})
	var got []string
	for _, one := range all {
		if one["c-id"] != "5" || one["o"] != "7" || len(one) != 4 {
			t.Errorf("%v", one)
		}
		got = append(got, one["a-id"]+one["b-id"])
	}
	slices.Sort(got)
	if !slices.Equal(got, []string{"13", "14", "23", "24"}) || names["a-id"] != "2" || names["b-id"] != "4" {
		t.Errorf("%v, names %v", got, names)
	}
	many := map[string]any{}
	for i := range 17 {
		for _, key := range []string{"a", "b"} {
			name := fmt.Sprint(key, "-", i)
			d.origins.names[name] = key + "-id"
			many[name] = fmt.Sprint(i)
		}
	}
	if _, all := d.namesIn(from, many, nil); all != nil {
		t.Errorf("%d ways to read one object", len(all))
	}
	d.may = func(string) (bool, bool) { return true, true }
	if keep, removed := d.prune(&original{top: tree.Path{{Node: &yang.Node{}}}, lists: from.lists}, many, nil); keep || len(removed) != 1 {
		t.Errorf("an object that cannot be asked about is kept: %v, %v", keep, removed)
	}
}

// A name that one plugin marks as a node means what another plugin says in that one.
func TestMarksAreThoseOfTheirPlugin(t *testing.T) {
	o := &origins{
		sources: map[string]string{"one": "p", "two": "q"},
		marked:  map[string]map[string]string{"p": {"id": "node-id"}, "q": {"peer": "node-id"}, "": {"id": "node-id", "peer": "node-id"}},
	}
	from := &original{lists: []*entries{{key: "node-id", list: "node"}}}
	for _, c := range []struct {
		module, name string
		want         bool
	}{
		{"one", "id", true}, {"one", "peer", false}, {"two", "id", false}, {"two", "peer", true}, {"made-of-them", "id", true}, {"made-of-them", "peer", true},
		{"two", "node", true},
	} {
		if _, ok := o.keyOf(c.module, from, c.name); ok != c.want {
			t.Errorf("%s of %s names a node: %v", c.name, c.module, ok)
		}
	}
	c, _ := things(t)
	real := c.origins.Load()
	if real == nil || len(real.marked) < 3 {
		t.Fatalf("no marks are read: %v", real)
	}
	for module, want := range map[string]bool{"switch-topology": true, "openflow-topology": false} {
		if _, ok := real.marked[real.sources[module]]["tail-node-id"]; ok != want {
			t.Errorf("tail-node-id of %s is marked: %v", module, ok)
		}
	}
}
