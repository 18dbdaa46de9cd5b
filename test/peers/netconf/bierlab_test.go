//go:build peers

package netconfpeers

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The flow of the channel tv, and how long packets may be missing while it is applied: the interval of the proof is 10 s.
const (
	labGroup, labSource = "232.0.0.1", "2.2.2.1"
	labLimit            = 30 * time.Second
)

// newBierLab is freeRtr routers with links between, mounted at a controller, members of the sub-domain, and a proof of
// delivery each 10 s.
func newBierLab(t *testing.T, n int, links [][2]int, members ...int) (*controller, []*freeRtr) {
	t.Helper()
	routers := newFreeRtrs(t, n, links...)
	settings, err := os.ReadFile(filepath.Join(root, "plugins/bier-driver-cli/testdata/freertr.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"bier-driver-cli.yaml": string(settings) + "poll: 3s\n",
		"bier-service.yaml":    "proof: 10s\n",
	}
	var spelled []string
	for _, l := range links {
		spelled = append(spelled, fmt.Sprintf("r%d r%d", l[0], l[1]))
	}
	c := newControllerOf(t, files, "bier-driver-cli", spelled, members...)
	c.from = labSource
	for _, i := range members {
		c.mount(fmt.Sprint("r", i), routers[i-1].to, `,"driver":"bier-driver-cli"`)
	}
	for _, i := range members {
		c.is(fmt.Sprint("r", i), "applied")
		routers[i-1].says("write memory")
	}
	return c, routers
}

// join has routers receive the packets of the channel tv.
func join(routers []*freeRtr, egress ...int) {
	for _, i := range egress {
		routers[i-1].says("configure terminal", "ipv4 multicast v1 join-group "+labGroup+" "+labSource, "end", "write memory")
	}
}

// shut takes an interface of a router down, or up again.
func (r *freeRtr) shut(port int, down bool) {
	word := "no shutdown"
	if down {
		word = "shutdown"
	}
	r.says("configure terminal", fmt.Sprintf("interface ethernet%d", port), word, "end")
}

// A square of which one member has no BIER: packets are counted against the state, under both spellings of the
// links, and with the good way down, which no session and no topology says anything of.
func TestFreeRtrSquareWithOneWithoutBIER(t *testing.T) {
	for name, links := range map[string][][2]int{
		"the good way last":  {{1, 2}, {1, 3}, {2, 4}, {3, 4}},
		"the good way first": {{3, 1}, {2, 1}, {4, 3}, {4, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			c, routers := newBierLab(t, 4, links, 1, 3, 4)
			r1 := routers[0]
			to3 := 1 + slices.IndexFunc(slices.DeleteFunc(slices.Clone(links), func(l [2]int) bool {
				return l[0] != 1 && l[1] != 1
			}), func(l [2]int) bool { return l[0] == 3 || l[1] == 3 })
			join(routers, 4)
			c.deploy("tv", labGroup, "r1", "r4")
			c.is("r1", "applied")
			truthful := func(x seen) bool {
				return x.replies == 1 && x.state == "applied" || x.replies == 0 && x.state != "applied" && x.state != "pending"
			}
			watched(t, c, r1, labGroup, 1, labLimit, "deployed", truthful)
			r1.shut(to3, true)
			watched(t, c, r1, labGroup, 1, labLimit, "the good way is down", func(x seen) bool { return x.replies == 0 && x.state == "unreachable" })
			r1.shut(to3, false)
			r1.shut(3-to3, true)
			watched(t, c, r1, labGroup, 1, labLimit, "the bad way is down", func(x seen) bool { return x.replies == 1 && x.state == "applied" })
			r1.shut(3-to3, false)
			watched(t, c, r1, labGroup, 1, labLimit, "both are up", truthful)
		})
	}
}

// One channel among 50 that a router cannot have takes no other with it: it is refused with the reason, and packets of
// the others arrive.
func TestFreeRtrOneChannelOfFiftyIsRefused(t *testing.T) {
	c, routers := newBierLab(t, 3, [][2]int{{1, 2}, {2, 3}}, 1, 2, 3)
	r1 := routers[0]
	join(routers, 3)
	c.deploy("tv", labGroup, "r1", "r3")
	for i := 2; i <= 49; i++ {
		c.deploy(fmt.Sprint("c", i), fmt.Sprint("232.0.0.", i), "r1", "r3")
	}
	c.rpc("bier-channel-api:add-channel", fmt.Sprintf(`{"topology-id":"lab","name":"wide","src-ip":%q,"dst-group":"232.0.1.0","domain-id":1,"sub-domain-id":0,"source-wildcard":32,"group-wildcard":24}`, labSource), "SUCCESS")
	c.rpc("bier-channel-api:deploy-channel", `{"topology-id":"lab","channel-name":"wide","ingress-node":"r1","egress-node":[{"node-id":"r3"}]}`, "FAILURE", "has one group only")
	c.is("r1", "applied")
	watched(t, c, r1, labGroup, 1, labLimit, "50 channels, one refused", func(x seen) bool { return x.replies == 1 && x.state == "applied" && x.proved == "counters" })
	shown := c.rpc("bier-channel-api:get-channel", `{"topology-id":"lab"}`)
	if n := strings.Count(shown, `"name"`); n != 50 {
		t.Errorf("%d channels", n)
	}
	c.rpc("bier-channel-api:remove-channel", `{"topology-id":"lab","channel-name":"tv"}`, "SUCCESS")
	c.until("its packets stop", func() string {
		if n := r1.replies(labGroup); n > 0 {
			return fmt.Sprintf("%d replies", n)
		}
		return ""
	})
}

// A ring with chords, of CTL_LAB_ROUTERS freeRtr (8 if it is not set): a link and a router go down and come back. The
// network finds other ways; the channel is applied whenever all egress nodes get packets for long enough, and never for
// longer than a proof takes while one does not.
func TestFreeRtrRingWithChords(t *testing.T) {
	n := 8
	if given := os.Getenv("CTL_LAB_ROUTERS"); given != "" {
		var err error
		if n, err = strconv.Atoi(given); err != nil || n < 8 || n > 40 {
			t.Fatalf("CTL_LAB_ROUTERS=%s is not within 8..40", given)
		}
	}
	var links [][2]int
	var members []int
	for i := 1; i <= n; i++ {
		links = append(links, [2]int{i, i%n + 1})
		members = append(members, i)
	}
	for i := 2; i+n/2 <= n; i += 3 { // none at r1
		links = append(links, [2]int{i, i + n/2})
	}
	c, routers := newBierLab(t, n, links, members...)
	r1 := routers[0]
	egress := []int{n/2 - 1, n / 2, n/2 + 2}
	join(routers, egress...)
	c.deploy("tv", labGroup, "r1", fmt.Sprint("r", egress[0]), fmt.Sprint("r", egress[1]), fmt.Sprint("r", egress[2]))
	all := func(x seen) bool { return x.replies == len(egress) && x.state == "applied" }
	watched(t, c, r1, labGroup, len(egress), labLimit, "deployed", all)
	r1.shut(1, true) // the link to r2
	watched(t, c, r1, labGroup, len(egress), labLimit, "a link is down", func(x seen) bool { return x.replies == len(egress) })
	r1.shut(1, false)
	watched(t, c, r1, labGroup, len(egress), labLimit, "the link is up again", all)
	routers[egress[2]-1].off()
	watched(t, c, r1, labGroup, len(egress), labLimit, "an egress router is off", func(x seen) bool { return x.replies == len(egress)-1 && x.state != "applied" })
	routers[egress[2]-1].on()
	watched(t, c, r1, labGroup, len(egress), labLimit, "it is on again", all)
	routers[1].off() // r2, transit
	watched(t, c, r1, labGroup, len(egress), labLimit, "a transit router is off", func(x seen) bool { return x.replies == len(egress) })
	routers[1].on()
	watched(t, c, r1, labGroup, len(egress), labLimit, "it is on again", all)
}
