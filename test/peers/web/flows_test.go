//go:build peers

package webpeers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"ctl.internal/internal/lab/simrouter"
	"ctl.internal/plugins/repoinfo/gittest"
	"ctl.internal/test/harness"
)

// cell waits until a table of the page has a cell with a text.
func cell(text string) chromedp.Action {
	return until(fmt.Sprintf(`[...document.querySelectorAll('main td')].some(d => d.textContent.trim() === %q)`, text))
}

// choose presses a button, radio button or box in the row of a name.
func choose(name, what string) chromedp.Action {
	return chromedp.Click(fmt.Sprintf(`//dialog//div[span[.=%q]]//label[contains(., %q)]/input`, name, what), chromedp.BySearch)
}

// From a topology to a deployed channel, and what becomes of it: all by the page, on simulated routers.
func TestBier(t *testing.T) {
	ctx, complaints := browser(t)
	c := harness.Start(t, bin, nil)
	c.Ctl("feature:install --grant ctl-bier-all")
	topology := filepath.Join(t.TempDir(), "tv.yaml")
	if err := os.WriteFile(topology, []byte(`topology-id: tv
node: [{node-id: r1}, {node-id: r2}, {node-id: r3}]
link:
- {source: {source-node: r1, source-tp: eth0}, destination: {dest-node: r2, dest-tp: eth0}, metric: 10, bidirectional: true}
- {source: {source-node: r2, source-tp: eth1}, destination: {dest-node: r3, dest-tp: eth0}, metric: 10, bidirectional: true}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Ctl("bier:topo-import " + topology)
	run(ctx, t, "login", chromedp.Navigate(c.HTTP+"/#/bier/tv/nodes"), logIn("admin", "admin"), cell("r3"))
	run(ctx, t, "bier-nodes", press("Set up routers…"), press("What will be sent"), shows(`"ipv4-bfr-prefix":"10.0.0.3/32"`), press("Configure 3 nodes"),
		shows("3 routers are in sub-domain 0 of domain 1."), press("✕"), cell("10.0.0.3/32"))
	routers := map[string]*simrouter.Router{}
	run(ctx, t, "bier-routers", press("Routers"), press("Mount a router…"), until(`document.querySelector('dialog[open]')`), press("✕"), until(`!document.querySelector('dialog')`))
	for _, name := range []string{"r1", "r2", "r3"} {
		r, err := simrouter.Start(simrouter.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(r.Down)
		routers[name] = r
		run(ctx, t, "bier-mount", press("Mount a router…"), fill("Node", name), fill("Host", r.Host()), fill("Port", strconv.Itoa(r.Port())), fill("User", "lab"), fill("Password", "lab"),
			press("Mount"), shows("Mounted; the list shows its state."), press("✕"), until(`!document.querySelector('dialog')`))
	}
	run(ctx, t, "bier-channel", chromedp.Click(`.tabs a[href="#/bier/tv/channels"]`), press("New channel…"), fill("Name", "news"), fill("Source", "10.9.0.1"), fill("Group", "232.1.1.1"),
		choose("r1", "ingress"), choose("r2", "egress"), choose("r3", "egress"), press("Deploy"), shows("Deployed: the list shows each router."), press("✕"),
		until(`[...document.querySelectorAll('td .mark.good')].some(m => m.textContent.includes('applied'))`), cell("r2, r3"))
	if held := routers["r1"].Config().String(); !strings.Contains(held, "232.1.1.1") {
		t.Errorf("the ingress router does not hold the channel:\n%s", held)
	}
	run(ctx, t, "bier-status", press("news: 3 routers, 1 copy at the ingress"), shows("Bit string (SI 0, 256 bits): 0x6 = r2, r3"), cell("ingress"), cell("up"),
		cell("r1 → r2 → r3"), press("Trace the packets"), shows("the next hop of router r1 is computed"))
	run(ctx, t, "bier-ports", press("Ports"), shows("Name a port"), fill("Port", "eth1"), chromedp.Navigate(c.HTTP+"/#/bier/tv/ports?node=r2&port=eth1"), cell("news"), cell("link"), cell("r3"),
		chromedp.Click(`.tabs a[href="#/bier/tv/channels"]`), cell("news"))
	var labels, marks string
	run(ctx, t, "bier-map", press("Show on map"), until(`document.querySelector('canvas.map').ctl.layer?.labels?.size === 2`),
		chromedp.Evaluate(`[...document.querySelector('canvas.map').ctl.layer.labels].map(([k, v]) => k + '=' + v).sort().join(' ')`, &labels),
		chromedp.Evaluate(`[...document.querySelector('canvas.map').ctl.layer.marks].map(([k, v]) => k + '=' + v).sort().join(', ')`, &marks), shows("Channel news: applied, 1 copy at the ingress"))
	if labels != "r1|r2=0x6 r2|r3=0x4" || marks != "r1=▲ in ✓, r2=▼ out ✓, r3=▼ out ✓" {
		t.Errorf("the tree of the channel is drawn as %q with %q", labels, marks)
	}
	run(ctx, t, "bier-bift", chromedp.Navigate(c.HTTP+"/#/bier/tv/bift?node=r1"), until(`[...document.querySelectorAll('tbody tr')].some(r => /3\s*r3\s*r2/.test([...r.cells].map(c => c.textContent).join(' ')))`))
	run(ctx, t, "bier-check", press("Check"), shows("No problems:"), press("Compare the routers’ tables"), cell("r2"))

	// A router that goes is seen, with the reason; one that comes back without a reload.
	address := fmt.Sprint(routers["r2"].Host(), ":", routers["r2"].Port())
	run(ctx, t, "bier-down", chromedp.Click(`.tabs a[href="#/bier/tv/channels"]`), cell("news"), chromedp.ActionFunc(func(context.Context) error {
		routers["r2"].Down()
		harness.Within(t, "the channel does not hold any more", func() bool {
			_, answer, err := c.Call("bier-channel-api:query-channel", `{"input":{"topology-id":"tv","channel-name":["news"]}}`)
			return err == nil && strings.Contains(answer, `"name":"news"`) && !strings.Contains(answer, `"state":"applied","egress-states"`)
		})
		return nil
	}), chromedp.Reload(),
		until(`[...document.querySelectorAll('td .mark.warn, td .mark.bad')].some(m => /unverified|pending|unreachable/.test(m.textContent))`))
	run(ctx, t, "bier-up", chromedp.ActionFunc(func(context.Context) error { return routers["r2"].Up(address) }),
		until(`[...document.querySelectorAll('td .mark.good')].some(m => m.textContent.includes('applied')) && !document.querySelector('td .mark.warn, td .mark.bad')`))
	run(ctx, t, "bier-remove", press("Remove…"), chromedp.Click(`dialog button.danger`), shows("news is removed."), shows("There is no channel yet."))
	noComplaints(t, complaints())
}

// noComplaints fails on all that the browser said but refusals, which it notes as well.
func noComplaints(t *testing.T, said []string) {
	t.Helper()
	for _, s := range said {
		if !strings.Contains(s, "status of 40") {
			t.Errorf("the browser complains: %s", s)
		}
	}
}

// Repositories: the sums of a clone, its people, two releases compared; and a plugin of somebody else is installed with what it asks for.
func TestRepositoriesAndGrants(t *testing.T) {
	ctx, complaints := browser(t)
	c := harness.Start(t, bin, nil)
	gittest.Zoo(t, filepath.Join(c.Home, "data", "repos", "zoo.git"))
	c.Ctl("feature:install --grant ctl-repoinfo")
	report := c.Do("GET", "/repoinfo/git/report", "admin:admin", "").JSON(t)
	commits := fmt.Sprint(report["commits"])
	run(ctx, t, "login", chromedp.Navigate(c.HTTP+"/#/repos"), logIn("admin", "admin"), until(fmt.Sprintf(`[...document.querySelectorAll('.numbers li')].some(l => l.textContent.trim() === %q)`, commits+" commits")),
		chromedp.WaitVisible(`svg.picture rect`))
	run(ctx, t, "repos-authors", press("Authors"), until(`document.querySelectorAll('tbody tr').length > 0`))
	run(ctx, t, "repos-projects", press("Projects"), cell("zoo"))
	run(ctx, t, "repos-compare", press("Releases compared"), shows("Enter two releases"), fill("Projects", "zoo"), fill("Release", "master"), fill("Compared with", "nosuch"), until(`document.querySelector('[data-state=failed], .note.warn')`))

	repo := filepath.Join(c.Home, "listener.yaml")
	feature := "name: lab\nfeatures:\n- name: login-listener\n  version: 1.0.0\n  description: writes logins down\n  plugins: [{name: login-listener}]\n"
	if err := os.WriteFile(repo, []byte(feature), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Ctl("feature:repo-add --unsigned " + repo)
	run(ctx, t, "grants", chromedp.Navigate(c.HTTP+"/#/system/features?q=login-listener"), cell("login-listener"), press("Install…"), chromedp.Click(`dialog .actions button`), chromedp.WaitVisible(`dialog [data-state=grants]`),
		shows("accounting"), press("Grant and install"), until(`[...document.querySelectorAll('td')].some(d => d.textContent.includes('Started'))`))
	run(ctx, t, "granted", chromedp.Navigate(c.HTTP+"/#/system/plugins"), press("login-listener"), until(`[...document.querySelectorAll('dialog .mark.good')].some(m => m.textContent.includes('granted'))`), shows("stream accounting"))
	noComplaints(t, complaints())
}

// The map by mouse: dragged nodes stay, also after a reload and for the same user elsewhere; leaves fold; what is
// exported is the map; 4K and a telephone.
func TestMapByMouse(t *testing.T) {
	ctx, complaints := browser(t)
	lab, c := switches(t, "ring:4,tree:3x2", "ctl-switch-all")
	const drawn = `document.querySelector('canvas.map')?.dataset.state === 'drawn'`
	const sw1 = "2199023255553"
	var at []float64
	run(ctx, t, "login", chromedp.Navigate(c.HTTP+"/#/map"), logIn("admin", "admin"), shows("11 nodes, 10 links"), until(drawn),
		chromedp.Evaluate(`(() => { const c = document.querySelector('canvas.map'), b = c.getBoundingClientRect(), p = c.ctl.places['`+sw1+`']; return [b.left + p[0], b.top + p[1]] })()`, &at))
	mouse := func(kind input.MouseType, dx, dy float64) chromedp.Action {
		return input.DispatchMouseEvent(kind, at[0]+dx, at[1]+dy).WithButton(input.Left).WithButtons(1).WithClickCount(1)
	}
	var before, dragged, reloaded string
	const where = `(p => p ? [Math.round(p.x), Math.round(p.y), p.pinned].join() : '')(document.querySelector('canvas.map').ctl.at['` + sw1 + `'])`
	run(ctx, t, "map-drag", chromedp.Evaluate(where, &before), mouse(input.MousePressed, 0, 0), mouse(input.MouseMoved, 20, 15), mouse(input.MouseMoved, 60, 45), mouse(input.MouseReleased, 60, 45),
		until(where+`.endsWith('true')`), until(`document.querySelector('[data-places=saved]')`), chromedp.Evaluate(where, &dragged), chromedp.Evaluate(`localStorage.clear()`, nil), chromedp.Reload(), until(drawn), chromedp.Evaluate(where, &reloaded))
	if kept := c.Do("GET", "/web/places/switch:1", "admin:admin", "").JSON(t); kept[sw1] == nil || len(kept) != 1 {
		t.Errorf("the controller keeps %v of what was dragged", kept)
	}
	if before == dragged || dragged != reloaded {
		t.Errorf("sw1 was at %s, was dragged to %s, and is at %s after a reload", before, dragged, reloaded)
	}
	run(ctx, t, "map-unpin", chromedp.SendKeys(`[aria-label="Find on the map"]`, "sw1\r"), press("Unpin"), until(`!`+where+`.endsWith('true')`), until(`document.querySelector('[data-places=saved]')`))
	if kept := c.Do("GET", "/web/places/switch:1", "admin:admin", "").JSON(t); len(kept) != 0 {
		t.Errorf("the controller keeps %v after the pin was taken away", kept)
	}
	const count = `(c => [Object.keys(c.places).length, c.names.length].join())(document.querySelector('canvas.map').ctl)`
	run(ctx, t, "map-fold", press("Fit"), press("Fold leaves"), until(count+` === '7,7'`), press("Fold leaves"), until(count+` === '11,11'`))
	var svg string
	var size []int
	run(ctx, t, "map-export", chromedp.Evaluate(`window.saved = []; { const f = URL.createObjectURL; URL.createObjectURL = b => { saved.push(b); return f.call(URL, b) } }`, nil),
		press("SVG"), until(`saved.length === 1`), evaluate(`saved[0].text()`, &svg), press("PNG"), until(`saved.length === 2`), evaluate(`createImageBitmap(saved[1]).then(b => [b.width, b.height])`, &size))
	for i := range 11 {
		if !strings.Contains(svg, fmt.Sprintf(">sw%d</text>", i+1)) {
			t.Errorf("the SVG has no sw%d", i+1)
		}
	}
	if strings.Count(svg, "<line") != 10 || len(size) != 2 || size[0] != 3840 {
		t.Errorf("the SVG has %d lines, the PNG has %v points", strings.Count(svg, "<line"), size)
	}
	for _, window := range [][2]int64{{3840, 2160}, {390, 844}} {
		var wide int64
		var outside int
		run(ctx, t, "map-window", chromedp.EmulateViewport(window[0], window[1]), chromedp.Reload(), until(drawn), until(`document.querySelector('canvas.map').ctl.names.length === 11`),
			chromedp.Evaluate(`document.documentElement.scrollWidth`, &wide),
			chromedp.Evaluate(`(() => { const c = document.querySelector('canvas.map'), b = c.getBoundingClientRect(); return Object.values(c.ctl.places).filter(([x, y]) => x < 0 || y < 0 || x > b.width || y > b.height).length })()`, &outside))
		if wide > window[0] || outside > 0 {
			t.Errorf("%v: the page is %d wide, %d nodes are outside of the map", window, wide, outside)
		}
	}
	// What happens is shown as it happens: by the explorer as the API sends it, and in the list of events.
	run(ctx, t, "stream", chromedp.EmulateViewport(1400, 1000), showPage("#/api/GET%20%2Frests%2Fstreams%2Fjson%2Fswitch-topology"), press("Send"), until(`document.querySelector('[data-status="200"]')`),
		chromedp.ActionFunc(func(context.Context) error {
			lab.SetLink("sw1", "sw2", false)
			c.Ctl("switch:TopoDiscover")
			return nil
		}),
		until(`document.getElementById('answer').textContent.includes('ietf-restconf:notification')`), press("Stop"), until(`![...document.querySelectorAll('button')].some(b => b.textContent === 'Stop')`),
		showPage("#/system/events"), cell("switch-topology"))
	noComplaints(t, complaints())
}
