package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ctl.internal/internal/yang"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
)

// A leaf is completed by what a page of its list has, however long the list is and whatever else is in it.
func TestSuggestedValuesAreOfAPage(t *testing.T) {
	c := chain(t, "[urls]\n/** = authcBasic\n")
	const module = "network-topology"
	put := func(path, body string) {
		t.Helper()
		r := httptest.NewRequest(http.MethodPut, "/rests/data/"+module+":"+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/yang-data+json")
		r.SetBasicAuth("admin", "admin")
		w := httptest.NewRecorder()
		c.front.ServeHTTP(w, r)
		if w.Code >= http.StatusBadRequest {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	who := caller.Caller{User: "admin", Domain: "sdn", Roles: []string{"admin"}, Address: "127.0.0.1:1"}
	ctx := caller.With(t.Context(), who)
	leaf := func(names ...string) *yang.Node {
		n := c.catalog.Installed().Schema.Module(module).Data[0]
		for _, name := range names {
			n = n.Member(name)
		}
		return n
	}
	node, topology := leaf("topology", "node", "node-id"), leaf("topology", "topology-id")
	if got := c.leafValues(ctx, node); got != nil {
		t.Errorf("of an empty tree: %q", got)
	}

	put(module+"/topology=a", `{"network-topology:topology":[{"topology-id":"a","node":[{"node-id":"n2"},{"node-id":"n10"}]}]}`)
	put(module+"/topology=b", `{"network-topology:topology":[{"topology-id":"b","node":[{"node-id":"n1"}]}]}`)
	if got := fmt.Sprint(c.leafValues(ctx, node), c.leafValues(ctx, topology)); got != "[n1 n2 n10] [a b]" {
		t.Errorf("suggested: %s", got)
	}
	answer, err := c.callTrees(ctx, who, http.MethodGet, "/rests/data/"+module+":"+module, http.NoBody, 10)
	if fault.KindOf(err) != fault.TooBig {
		t.Errorf("an answer of more than 10 bytes: %s, %v", answer, err)
	}

	var all []string
	for i := range maxSuggestedEntries + 1 {
		all = append(all, fmt.Sprintf(`{"topology-id":"t%d"}`, i))
	}
	put(module, `{"network-topology:network-topology":{"topology":[`+strings.Join(all, ",")+`]}}`)
	if got := len(c.leafValues(ctx, topology)); got != maxSuggestedEntries {
		t.Errorf("%d entries are suggested, want %d", got, maxSuggestedEntries)
	}
}
