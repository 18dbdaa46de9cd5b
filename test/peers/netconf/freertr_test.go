//go:build peers

package netconfpeers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"ctl.internal/internal/netconf"
	"ctl.internal/sdk/plugintest/reserve"
)

// freeRtr is a router of its own process, reached by SSH. Their IGP is lsrp4 1, their
// loopbacks are 2.2.2.1, 2.2.2.2 …
type freeRtr struct {
	t  *testing.T
	to netconf.Target
	// off ends the process, on starts it with what was saved.
	off func()
	on  func()
}

// newFreeRtrs starts n of them with links between. The k-th link of a router is its
// interface ethernet<k>.
func newFreeRtrs(t *testing.T, n int, links ...[2]int) []*freeRtr {
	t.Helper()
	jar, java := installed(t, "FREERTR_JAR", "freeRtr"), needs(t, "java")
	type end struct {
		address       string
		local, remote int
	}
	ends := make([][]end, n+1)
	for k, l := range links {
		a, b := reserve.Port(t, "udp", "127.0.0.1"), reserve.Port(t, "udp", "127.0.0.1")
		ends[l[0]] = append(ends[l[0]], end{fmt.Sprintf("1.1.%d.%d", k+1, l[0]), a, b})
		ends[l[1]] = append(ends[l[1]], end{fmt.Sprintf("1.1.%d.%d", k+1, l[1]), b, a})
	}
	var out []*freeRtr
	for id, l := range ends[1:] {
		id++
		dir := t.TempDir()
		r := &freeRtr{t: t, to: netconf.Target{Host: "127.0.0.1", Port: reserve.Port(t, "tcp", "127.0.0.1"), User: "lab", Password: "lab"}}
		hardware := fmt.Sprintf("hwid lab\nrwpath %s/\ntcp2vrf %d v1 22 127.0.0.1\n", dir, r.to.Port)
		var interfaces strings.Builder
		for k, x := range l {
			hardware += fmt.Sprintf("int eth%d eth 0000.0000.%02x%02x 127.0.0.1 %d 127.0.0.1 %d\n", k+1, id, k+1, x.local, x.remote)
			fmt.Fprintf(&interfaces, "interface ethernet%d\n vrf forwarding v1\n ipv4 address %s 255.255.255.0\n mpls enable\n router lsrp4 1 enable\n exit\n!\n", k+1, x.address)
		}
		software := fmt.Sprintf(`hostname r%d
!
aaa userlist usr
 username lab password lab
 username lab privilege 15
 exit
!
crypto rsakey rsa generate 2048
!
vrf definition v1
 rd 1:1
 exit
!
router lsrp4 1
 vrf v1
 router-id 4.4.4.%d
 redistribute connected
 exit
!
interface loopback1
 vrf forwarding v1
 ipv4 address 2.2.2.%d 255.255.255.255
 exit
!
%sserver telnet ssh
 security protocol ssh
 security authentication usr
 security rsakey rsa
 no exec authorization
 login authentication usr
 port 22
 vrf v1
 exit
!
end
`, id, id, id, interfaces.String())
		for name, text := range map[string]string{"hw": hardware, "sw": software} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r.on = func() {
			r.off = run(t, dir, nil, java, "-Xmx200m", "-jar", jar, "routers", filepath.Join(dir, "hw"), filepath.Join(dir, "sw"))
		}
		r.on()
		out = append(out, r)
	}
	for _, r := range out {
		r.says("terminal length 0") // it is up
	}
	return out
}

// says types lines at the router's command line, and returns all that is seen.
func (r *freeRtr) says(lines ...string) string {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	again := time.NewTicker(200 * time.Millisecond)
	defer again.Stop()
	for {
		c, _, err := netconf.DialSSH(ctx, r.to)
		if err == nil {
			defer c.Close()
			out, err := typed(ctx, c, append([]string{"terminal length 0"}, lines...))
			if err != nil {
				r.t.Fatalf("%q: %v: %s", lines, err, out)
			}
			return out
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			r.t.Fatalf("the router does not come up: %v", err)
		}
	}
}

// prompt is one that waits for a line: after a line end and what was drawn over.
var prompt = regexp.MustCompile(`\n[^\n]*\r(?:r[0-9]+)(?:\([a-z-]+\))?#$`)

func typed(ctx context.Context, c *ssh.Client, lines []string) (out string, err error) {
	stop := context.AfterFunc(ctx, func() { c.Close() })
	defer stop()
	ch, err := netconf.OpenShell(c)
	if err != nil {
		return "", err
	}
	part := make([]byte, 32<<10)
	for i := 0; i <= len(lines); i++ {
		answer := ""
		for !prompt.MatchString(answer) {
			n, err := ch.Read(part)
			if answer += string(part[:n]); err != nil {
				return out + answer, err
			}
		}
		out += answer
		if i < len(lines) {
			if _, err := ch.Write([]byte(lines[i] + "\n")); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

// replies sends a multicast packet into the channel, and returns how many answered.
func (r *freeRtr) replies(group string) int {
	r.t.Helper()
	out := r.says("ping " + group + " vrf v1 source loopback1 multi repeat 1 timeout 2000")
	var received int
	if _, after, ok := strings.Cut(out, "recv/sent/lost/err="); ok {
		if _, err := fmt.Sscanf(after, "%d/", &received); err == nil {
			return received
		}
	}
	r.t.Fatalf("ping says %s", out)
	return 0
}

// Three freeRtr are routers of a real controller: what is deployed is in their running
// configuration, and a multicast packet reaches the egress routers of the channel and
// no other, before a change and after it.
func TestFreeRtrUnderController(t *testing.T) {
	routers := newFreeRtrs(t, 3, [2]int{1, 2}, [2]int{1, 3})
	settings, err := os.ReadFile(filepath.Join(root, "plugins/bier-driver-cli/testdata/freertr.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	c := newController(t, map[string]string{"bier-driver-cli.yaml": string(settings) + "poll: 500ms\n"}, "bier-driver-cli")
	const group, source = "232.0.0.1", "2.2.2.1"
	for i, r := range routers {
		c.mount(fmt.Sprintf("r%d", i+1), r.to, `,"driver":"bier-driver-cli"`)
	}
	for i, r := range routers {
		c.is(fmt.Sprintf("r%d", i+1), "applied", `"driver":"bier-driver-cli"`)
		r.holds(fmt.Sprintf(" bier 256 10 %d 0\r\n", i+1), " redistribute connected")
		if i > 0 {
			r.says("configure terminal", "ipv4 multicast v1 join-group "+group+" "+source, "end") // a receiver
		}
	}
	r1 := routers[0]
	c.until("r1 knows the BFR-ids of the others", func() string {
		if shown := r1.says("terminal tablemode raw", "show ipv4 bier v1"); !strings.Contains(shown, "2.2.2.2/32;2;0;") || !strings.Contains(shown, "2.2.2.3/32;3;0;") {
			return shown
		}
		return ""
	})
	reach := func(want int) {
		t.Helper()
		c.until(fmt.Sprintf("%d routers answer", want), func() string {
			if got := r1.replies(group); got != want {
				return fmt.Sprintf("%d did: %s", got, r1.says("show running-config", "show ipv4 mroute v1"))
			}
			return ""
		})
	}
	reach(0)
	c.from = source
	c.deploy("tv", group, "r1", "r2") // its answer does not wait for a slow router
	c.is("r1", "applied")
	r1.holds(" description bier 2.2.2.1 32 232.0.0.1 32 vpn 0\r\n", " tunnel domain-name 2.2.2.2\r\n", " tunnel mode bier\r\n", " ipv4 multicast static-group 232.0.0.1 2.2.2.1\r\n")
	reach(1)
	c.redeploy("tv", "r1", "r3", "r2")
	c.is("r1", "applied")
	r1.holds(" tunnel domain-name 2.2.2.2 2.2.2.3\r\n")
	reach(2)

	tunnel := regexp.MustCompile(`interface tunnel[0-9]+`).FindString(r1.says("show running-config"))
	r1.says("configure terminal", tunnel, "tunnel domain-name 2.2.2.3", "tunnel mode bier", "end")
	c.logged("somebody else")
	c.until("what another operator did is repaired", func() string {
		if shown := r1.says("show running-config"); !strings.Contains(shown, " tunnel domain-name 2.2.2.2 2.2.2.3\r\n") {
			return shown
		}
		return ""
	})
	reach(2)
	c.rpc("bier-channel-api:remove-channel", `{"topology-id":"lab","channel-name":"tv"}`, "SUCCESS")
	c.is("r1", "applied")
	if shown := r1.says("show running-config"); strings.Contains(shown, tunnel) {
		t.Errorf("removed, but there: %s", shown)
	}
	reach(0)
	wrong := r1.to
	wrong.Password = "wrong"
	c.mount("r1", wrong, `,"driver":"bier-driver-cli"`)
	c.is("r1", "unverified", "the router refuses the user")
}

// holds looks for lines in the running configuration.
func (r *freeRtr) holds(lines ...string) {
	r.t.Helper()
	shown := r.says("show running-config")
	for _, l := range lines {
		if !strings.Contains(shown, l) {
			r.t.Errorf("the router does not hold %q: %s", l, shown)
		}
	}
}

// Five freeRtr, r4 without BIER between r1 and r5: what is only reached over it is warned of before it
// is deployed, shown with the reason, and the ping says the same; the others receive each
// packet once, after every change, with a link cut, and with a router off and on again. The
// tables that the routers use are those computed, but for what is reached over r4.
func TestFreeRtrsAroundOneWithoutBIER(t *testing.T) {
	routers := newFreeRtrs(t, 5, [2]int{1, 2}, [2]int{1, 3}, [2]int{2, 3}, [2]int{1, 4}, [2]int{4, 5})
	settings, err := os.ReadFile(filepath.Join(root, "plugins/bier-driver-cli/testdata/freertr.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	whole := []string{"r1 r2", "r1 r3", "r2 r3", "r1 r4", "r4 r5"}
	c := newControllerOf(t, map[string]string{"bier-driver-cli.yaml": string(settings) + "poll: 2s\n"}, "bier-driver-cli", whole, 1, 2, 3, 5)
	const group, source = "232.0.0.1", "2.2.2.1"
	c.from = source
	for _, i := range []int{1, 2, 3, 5} {
		c.mount(fmt.Sprint("r", i), routers[i-1].to, `,"driver":"bier-driver-cli"`)
	}
	for _, i := range []int{1, 2, 3, 5} {
		c.is(fmt.Sprint("r", i), "applied")
		if i > 1 {
			routers[i-1].says("configure terminal", "ipv4 multicast v1 join-group "+group+" "+source, "end", "write memory")
		}
	}
	r1 := routers[0]
	const lacks = "router r1 cannot do what is needed (tunnel, RFC 8279 section 6.9) to reach r5 over r4"
	c.rpc("bier-channel-api:add-channel", fmt.Sprintf(`{"topology-id":"lab","name":"tv","src-ip":%q,"dst-group":%q,"domain-id":1,"sub-domain-id":0,"source-wildcard":32,"group-wildcard":32}`, source, group), "SUCCESS")
	if shown := c.Ctl("bier:channel-deploy --check tv r1 r2 r3 r5"); !strings.Contains(shown, lacks) {
		t.Errorf("no warning before: %s", shown)
	}
	if out := c.redeploy("tv", "r1", "r2", "r3", "r5"); !strings.Contains(out, `"warning":["egress r5: `+lacks) {
		t.Errorf("no warning: %s", out)
	}
	c.is("r1", "applied")
	shows := func(words ...string) {
		t.Helper()
		c.until(fmt.Sprint("the channel is shown with ", words), func() string {
			shown := c.rpc("bier-channel-api:query-channel", `{"topology-id":"lab","channel-name":["tv"]}`)
			for _, w := range words {
				if !strings.Contains(shown, w) {
					return shown
				}
			}
			return ""
		})
	}
	beyond := `"node-id":"r5","role":"egress","state":"unreachable","reason":"` + lacks
	shows(`"egress-states":{"applied":2,"unreachable":1}`, beyond)
	reach := func(want int) {
		t.Helper()
		c.until(fmt.Sprintf("%d routers answer", want), func() string {
			if got := r1.replies(group); got != want {
				return fmt.Sprintf("%d did: %s", got, r1.says("show ipv4 bier v1", "show ipv4 mroute v1"))
			}
			return ""
		})
	}
	reach(2)
	pinged := c.rpc("bier-service-api:ping", `{"topology-id":"lab","channel-name":"tv"}`)
	for _, want := range []string{`"node-id":"r2","sent":5,"received":5`, `"node-id":"r3","sent":5,"received":5`, `"node-id":"r5","sent":5,"received":0,"state":"unreachable"`} {
		if !strings.Contains(pinged, want) {
			t.Errorf("ping: %s, want %s", pinged, want)
		}
	}
	// verified: nothing differs but that r1, whose tunnel it would be, has no way to r5.
	verified := func() {
		t.Helper()
		for _, r := range []string{"r1", "r2", "r3"} {
			c.until("the tables of "+r+" are those computed", func() string {
				shown := c.rpc("bier-service-api:verify", fmt.Sprintf(`{"node-id":[%q]}`, r))
				beyond := strings.Contains(shown, "there is no way to BFR-id 5 (r5)") && strings.Count(shown, "length 256") == 2 // as reason and as the only difference
				if r == "r1" && beyond || r != "r1" && strings.Contains(shown, `"result":"equal","tables":1`) {
					return ""
				}
				return shown
			})
		}
	}
	verified()
	if shown := c.rpc("bier-service-api:verify", `{"node-id":["r2"]}`); strings.Contains(shown, `"packets":0`) {
		t.Errorf("r2 has counted no packet: %s", shown)
	}

	r1.says("configure terminal", "interface ethernet2", "shutdown", "end") // the link to r3
	c.importTopology([]string{"r1 r2", "r2 r3", "r1 r4", "r4 r5"})
	reach(2)
	verified()
	r1.says("configure terminal", "interface ethernet2", "no shutdown", "end")
	c.importTopology(whole)
	reach(2)
	verified()

	routers[1].off()
	shows(`"egress-states":{"applied":1,"unreachable":1,"unverified":1}`, `"node-id":"r2","role":"egress","state":"unverified"`)
	for _, line := range []string{"bier:alarm-list", "bier:channel-show tv"} {
		if shown := c.Ctl(line); !strings.Contains(shown, "r2") || !strings.Contains(shown, "down") {
			t.Errorf("%s: %s", line, shown)
		}
	}
	reach(1)
	routers[1].on()
	shows(`"egress-states":{"applied":2,"unreachable":1}`, beyond)
	reach(2)
	verified()
}

// seen is what the network did and what the controller said of it at one time.
type seen struct {
	replies int
	state   string
	proved  string
}

// watched looks at the channel tv, which has so many egress nodes, until it is as wanted. Packets may be missing at one of
// them while the channel is applied for no longer than a proof may take: limit.
func watched(t *testing.T, c *controller, r1 *freeRtr, group string, egresses int, limit time.Duration, what string, is func(seen) bool) {
	t.Helper()
	stated := regexp.MustCompile(`"state":"([a-z-]+)","egress-states"`)
	proved := regexp.MustCompile(`"egress-states":\{[^}]*\},"proved":"[^"]*","proved-by":"([a-z]+)"`)
	var wrong time.Time // since when packets are missing although the channel is applied
	var longest time.Duration
	began := time.Now()
	defer func() { t.Logf("%s: applied without packets for at most %s", what, longest.Round(time.Second)) }()
	for last := ""; time.Since(began) < 4*time.Minute; {
		var now seen
		now.replies = r1.replies(group)
		shown := c.rpc("bier-channel-api:query-channel", `{"topology-id":"lab","channel-name":["tv"]}`)
		if m := stated.FindStringSubmatch(shown); m != nil {
			now.state = m[1]
		}
		if m := proved.FindStringSubmatch(shown); m != nil {
			now.proved = m[1]
		}
		said := fmt.Sprintf("%d replies, %s, proved by %q", now.replies, now.state, now.proved)
		if said != last {
			t.Logf("%s: after %s: %s", what, time.Since(began).Round(time.Second), said)
			last = said
		}
		switch {
		case now.replies >= egresses || now.state != "applied":
			wrong = time.Time{}
		case wrong.IsZero():
			wrong = time.Now()
		default:
			longest = max(longest, time.Since(wrong))
		}
		if longest > limit {
			t.Fatalf("%s: packets are missing for %s, and the channel is applied: %s", what, longest, shown)
		}
		if is(now) {
			return
		}
	}
	t.Fatalf("%s: never", what)
}

// On a line of three freeRtr packets are counted against the state that the controller shows: with the router in the
// middle off, on again, with its BIER taken away, and with a link down that no session and no topology says anything of.
// A channel is never applied for longer than a proof takes while its packets are missing.
func TestFreeRtrDeliveryAgainstState(t *testing.T) {
	routers := newFreeRtrs(t, 3, [2]int{1, 2}, [2]int{2, 3})
	settings, err := os.ReadFile(filepath.Join(root, "plugins/bier-driver-cli/testdata/freertr.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	const interval, limit = "10s", 30 * time.Second // a turn of the proof, and how long one may take on a busy machine
	files := map[string]string{
		"bier-driver-cli.yaml": string(settings) + "poll: 3s\n",
		"bier-service.yaml":    "proof: " + interval + "\n",
	}
	c := newControllerOf(t, files, "bier-driver-cli", []string{"r1 r2", "r2 r3"}, 1, 2, 3)
	const group, source = "232.0.0.1", "2.2.2.1"
	c.from = source
	for i, r := range routers {
		c.mount(fmt.Sprintf("r%d", i+1), r.to, `,"driver":"bier-driver-cli"`)
	}
	for i, r := range routers {
		c.is(fmt.Sprintf("r%d", i+1), "applied")
		r.says("write memory")
	}
	r1, r2, r3 := routers[0], routers[1], routers[2]
	c.deploy("tv", group, "r1", "r3")
	c.is("r1", "applied")
	c.until("the lines to enter at r3 are shown", func() string {
		shown := c.rpc("bier-channel-api:query-channel", `{"topology-id":"lab","channel-name":["tv"]}`)
		if strings.Contains(shown, `"by-hand":["ipv4 multicast v1 join-group `+group+" "+source+`"]`) {
			return ""
		}
		return shown
	})
	r3.says("configure terminal", "ipv4 multicast v1 join-group "+group+" "+source, "end", "write memory")
	good := func(x seen) bool { return x.replies == 1 && x.state == "applied" && x.proved == "counters" }
	watched(t, c, r1, group, 1, limit, "the channel is deployed", good)

	r2.off()
	watched(t, c, r1, group, 1, limit, "r2 is off", func(x seen) bool { return x.replies == 0 && x.state != "applied" })
	r2.on()
	watched(t, c, r1, group, 1, limit, "r2 is on again", good)

	r2.says("configure terminal", "router lsrp4 1", "no bier 256 10 2 0", "end")
	watched(t, c, r1, group, 1, limit, "r2 has lost its BIER", good)

	r2.says("configure terminal", "interface ethernet2", "shutdown", "end") // the link to r3; all sessions stay up
	watched(t, c, r1, group, 1, limit, "a link is down", func(x seen) bool { return x.replies == 0 && x.state == "unreachable" })
	r2.says("configure terminal", "interface ethernet2", "no shutdown", "end")
	watched(t, c, r1, group, 1, limit, "the link is up again", good)
}
