package bier

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/fault"
)

// showingRouters is the driver with routers that show forwarding tables.
type showingRouters struct {
	*memoryRouters
	shown *shownTables
}

// shownTables are what routers show when they are asked: neighbours by BFR-id in sub-domain 1, or an error. A router
// without either does not answer.
type shownTables struct {
	mu     sync.Mutex
	ways   map[string]map[uint16]string
	errors map[string]error
	asked  int
}

// Forwarding implements bierdriver.Forwarder.
func (l showingRouters) Forwarding(ctx context.Context, q *bierdriver.Router) ([]*bierdriver.Forwarding, error) {
	s := l.shown
	s.mu.Lock()
	s.asked++
	ways, err := s.ways[q.NodeId], s.errors[q.NodeId]
	s.mu.Unlock()
	if ways == nil && err == nil {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	var out []*bierdriver.Forwarding
	for _, bsl := range []uint32{64, 256} {
		t := &bierdriver.Forwarding{SubDomainId: 1, HasSubDomain: true, Bitstringlength: bsl}
		masks := map[string][]byte{}
		for id, name := range ways {
			if masks[name] == nil {
				masks[name] = make([]byte, bsl/8)
			}
			masks[name][bsl/8-1] |= 1 << (id - 1)
		}
		for name, mask := range masks {
			t.Neighbors = append(t.Neighbors, &bierdriver.Neighbor{Name: name, FBm: mask})
		}
		out = append(out, t)
	}
	return out, err
}

func (s *shownTables) set(node string, ways map[uint16]string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ways[node], s.errors[node] = ways, err
}

func (s *shownTables) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// showing is a lab of four routers in memory that show their tables.
func showing(t *testing.T) (*lab, *shownTables) {
	t.Helper()
	s := &shownTables{ways: map[string]map[uint16]string{}, errors: map[string]error{}}
	l := newLabOf(t, func(r *memoryRouters) bierdriver.Driver { return showingRouters{r, s} })
	l.configure(4)
	l.mount(4)
	return l, s
}

func prefix(node int) string { return fmt.Sprintf("192.168.%d.1/32", node) }

// Only of a router whose driver cannot read its table the next hop is the computed one. Where a table is not read for
// another reason the way is not known, and that is neither a success nor a failure.
func TestATraceOfTablesThatAreNotRead(t *testing.T) {
	l, shown := showing(t)
	l.on(3)
	shown.set("1", map[uint16]string{3: prefix(2)}, nil)
	trace := func(want ...string) {
		t.Helper()
		said := l.run("bier-service", "bier:trace", nil, "tv", "3")
		for _, w := range want {
			if !strings.Contains(said, w) {
				t.Errorf("%s\n  want %s", said, w)
			}
		}
	}
	shown.set("2", nil, fault.New(fault.Unsupported, "this model has no table"))
	trace("1 2 3", "success; the next hop of router 2 is computed: this model has no table")
	shown.set("2", nil, fault.New(fault.Unavailable, "the session is down"))
	trace("unknown: the next hop of router 2 is not known: the session is down", "error: the way to 1 of 1 egress nodes is not known")
	shown.set("2", map[uint16]string{3: "192.0.2.99/32", 4: "192.0.2.99/32"}, nil)
	trace("unknown: the next hop of router 2 is not known: its table names a neighbour that the topology does not have")
	shown.set("2", map[uint16]string{3: prefix(3)}, nil)
	trace("1 2 3", "success")

	l.says("bier-oam-api:start-echo-request", `{"input":{"topology-id":"flow:1","channel-name":"tv","check-type":"proactive","mode-type":"trace","interval":1,"target-node-ids":[{"target-node-id":"3"}]}}`, "SUCCESS")
	shown.set("2", nil, fault.New(fault.Unavailable, "the session is down"))
	said := ""
	l.until("the list says that it is not known", func() bool {
		said = l.must("bier-oam-api:get-echo-requests", `{}`)
		return strings.Contains(said, "1 of 1 not known: 3: unknown: ")
	}, func() string { return said })
}

// The table of the channel's own domain counts where a router is in several with the same sub-domain-id.
func TestATraceIsOfTheDomainOfTheChannel(t *testing.T) {
	l, shown := showing(t)
	l.on(3)
	l.must("bier-topology-api:configure-domain", `{"input":{"topology-id":"flow:1","domain":[2]}}`)
	l.must("bier-topology-api:configure-subdomain", `{"input":{"topology-id":"flow:1","domain-id":2,"sub-domain":[1]}}`)
	l.says("bier-topology-api:configure-node", node(1, 2, 1, 1, 300, 400, "ISIS"), "SUCCESS")
	l.says("bier-topology-api:configure-node", node(5, 2, 1, 5, 300, 400, "ISIS"), "SUCCESS")
	shown.set("1", map[uint16]string{3: prefix(2)}, nil)
	shown.set("2", map[uint16]string{3: prefix(3)}, nil)
	if said := l.run("bier-service", "bier:trace", nil, "tv", "3"); !strings.Contains(said, "1 2 3") || strings.Contains(said, "known") {
		t.Error(said)
	}
}

// Proactive echo requests whose routers do not answer leave those on demand alone.
func TestProactiveEchoRequestsDoNotRefuseThoseOnDemand(t *testing.T) {
	l, shown := showing(t)
	const turns = 8 // of proactive echo requests at the same time, and echo requests on demand
	request := func(channel, check string) string {
		return fmt.Sprintf(`{"input":{"topology-id":"flow:1","channel-name":"%s","check-type":"%s","mode-type":"trace","interval":1,"target-node-ids":[{"target-node-id":"3"}]}}`, channel, check)
	}
	for i := range turns {
		name := fmt.Sprintf("c%d", i)
		l.must("bier-channel-api:add-channel", fmt.Sprintf(`{"input":{"name":"%s","src-ip":"1.1.1.1","dst-group":"224.1.1.%d","domain-id":1,"sub-domain-id":1,"source-wildcard":32,"group-wildcard":32}}`, name, i+1))
		l.must("bier-channel-api:deploy-channel", fmt.Sprintf(`{"input":{"channel-name":"%s","ingress-node":"1","egress-node":[{"node-id":"3"}]}}`, name))
		l.says("bier-oam-api:start-echo-request", request(name, "proactive"), "SUCCESS")
	}
	l.until("all have their turn", func() bool { return shown.count() >= turns })
	for range turns {
		l.says("bier-oam-api:start-echo-request", request("c0", "on-demand"), "SUCCESS")
	}
	l.says("bier-oam-api:start-echo-request", request("c0", "on-demand"), "FAILURE", "8 echo requests are under way")
}
