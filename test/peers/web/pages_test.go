//go:build peers

package webpeers

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The console works in a browser that reaches nothing else: login, map, device, VLAN, search, features, explorer,
// YANG; without a feature's -ui its operations are not there; an ended session asks for the login; nothing is loaded that the
// policy of the page forbids.
func TestPages(t *testing.T) {
	ctx, complaints := browser(t)
	lab, c := switches(t, "ring:5", "ctl-switch-all ctl-bier-topomanager-ui")
	for path, want := range map[string]int{"/": http.StatusUnauthorized, "/apidoc/openapi.json": http.StatusUnauthorized, "/web/events": http.StatusUnauthorized,
		"/web/me": http.StatusUnauthorized, "/login": http.StatusOK, "/web/static/app.js": http.StatusOK} {
		if status, _, err := c.Get(path, "nobody", "wrong"); err != nil || status != want {
			t.Errorf("%s without a login: %d %v, want %d", path, status, err, want)
		}
	}

	run(ctx, t, "login", chromedp.Navigate(c.HTTP+"/#/devices"), chromedp.WaitVisible(`.login`), chromedp.SetValue(`input[name=user]`, "admin"),
		chromedp.SetValue(`input[name=password]`, "wrong"), chromedp.Click(`.login button`), shows("user or password is wrong"), logIn("admin", "admin"), shows("sw5"))

	var names, places int
	run(ctx, t, "map", chromedp.Navigate(c.HTTP+"/#/map"), shows("5 nodes, 5 links"), until(`document.querySelector('canvas.map').dataset.state === 'drawn'`),
		chromedp.Evaluate(`document.querySelector('canvas.map').ctl.names.length`, &names), chromedp.Evaluate(`Object.keys(document.querySelector('canvas.map').ctl.places).length`, &places))
	if names != 5 || places != 5 {
		t.Errorf("the map has %d names and %d places for five switches", names, places)
	}
	// A link that goes is drawn as gone, and no node moves.
	var before, after string
	const where = `JSON.stringify(document.querySelector('canvas.map').ctl.places)`
	run(ctx, t, "map-cut", chromedp.Evaluate(where, &before),
		chromedp.ActionFunc(func(context.Context) error {
			lab.SetLink("sw1", "sw2", false)
			c.Ctl("switch:TopoDiscover")
			return nil
		}),
		press("The same as a table"), until(`[...document.querySelectorAll('.twin td')].some(d => d.textContent === 'gone')`), chromedp.Evaluate(where, &after))
	if before != after {
		t.Errorf("a link went and nodes moved:\n%s\n%s", before, after)
	}
	// What is found is selected; its panel leads to the device.
	run(ctx, t, "map-find", chromedp.SendKeys(`[aria-label="Find on the map"]`, "sw3"+kb.Enter), chromedp.WaitVisible(`.panel`), press("Open"), chromedp.WaitVisible(`.ports`), shows("02:00:00:00:00:03"))

	run(ctx, t, "vlan", press("Add VLAN…"), fill("VLAN", "77"), fill("Name", "lab"), fill("Tagged ports", "1-2"), fill("Untagged ports", "5"), press("Preview"),
		shows(`"tagged-port-list": "1,2"`), press("Add the VLAN"), until(`document.querySelector('[data-result="✓"]')`), shows("read back: ports 1-2, 5"))
	run(ctx, t, "vlans", press("✕"), chromedp.Click(`.tabs a[href$="/vlans"]`), until(`[...document.querySelectorAll('td')].some(d => d.textContent === '77')`))

	run(ctx, t, "find", chromedp.SendKeys(`header [type=search]`, "sw4"+kb.Enter), until(`[...document.querySelectorAll('td a')].some(a => a.textContent === 'sw4')`))

	run(ctx, t, "plugins", chromedp.Navigate(c.HTTP+"/#/system"), until(`[...document.querySelectorAll('td')].some(d => d.textContent.includes('bier-topomanager'))`))
	run(ctx, t, "features", press("Features"), chromedp.SendKeys(`[aria-label="Filter features"]`, "ctl-bier-channel-ui"),
		press("Install…"), shows("install feature ctl-bier-channel-ui"), chromedp.Click(`dialog .actions button`), until(`[...document.querySelectorAll('td')].some(d => d.textContent.includes('Started'))`))

	for _, p := range []string{"#/now", "#/map", "#/devices", "#/devices/switch%3A1/2199023255553", "#/bier", "#/system", "#/system/features", "#/access", "#/access/policies", "#/repos", "#/api", "#/yang/vlan", "#/account"} {
		var wide int64
		run(ctx, t, "narrow", chromedp.EmulateViewport(390, 844), chromedp.Navigate(c.HTTP+"/"+p), until(`document.querySelector('main h1') && !document.querySelector('.skeleton')`),
			chromedp.Evaluate(`Math.max(document.documentElement.scrollWidth, document.querySelector('main').scrollWidth)`, &wide), chromedp.EmulateViewport(1400, 1000))
		if wide > 390 {
			t.Errorf("in a window of 390 points %s is %d wide", p, wide)
		}
	}

	run(ctx, t, "explorer-old-address", chromedp.Navigate(c.HTTP+"/apidoc/"), until(`location.hash === '#/api'`), chromedp.SendKeys(`[aria-label="Find an operation"]`, "restconf get-node-list"+kb.Enter), press("Send"), until(`document.getElementById('answer')?.textContent.includes('node-list-entry')`))
	run(ctx, t, "explorer-fault", chromedp.Navigate(c.HTTP+"/#/api/"+`POST%20%2Frestconf%2Foperations%2Fvlan%3Aadd-vlan`), fill("node-id", "1"), fill("vlan-id", "5000"), fill("vlan-name", "x"), press("Send"),
		until(`document.querySelector('[data-status="400"]')`), until(`[...document.querySelectorAll('.field')].some(f => f.textContent.startsWith('vlan-id') && f.querySelector('[role=alert]'))`))
	run(ctx, t, "explorer-configures", chromedp.Navigate(c.HTTP+"/#/api/"+`POST%20%2Frestconf%2Foperations%2Fbier-topology-api%3Aconfigure-domain`), press("JSON"),
		chromedp.SetValue(`textarea`, `{"input":{"topology-id":"switch:1","domain":[7]}}`), chromedp.SendKeys(`textarea`, " "), press("Send"), until(`document.getElementById('answer')?.textContent.includes('SUCCESS')`))
	run(ctx, t, "explorer-unknown", chromedp.Navigate(c.HTTP+"/#/api/nosuch"), shows("There is no operation “nosuch” here"))
	run(ctx, t, "yang", chromedp.Navigate(c.HTTP+"/yangui"), until(`location.hash === '#/yang'`), press("bier-topology-api"), until(`[...document.querySelectorAll('summary')].some(s => s.textContent.includes('configure-domain'))`))

	c.Ctl("feature:uninstall ctl-bier-topomanager-ui")
	var listed string
	run(ctx, t, "explorer-without", chromedp.Navigate(c.HTTP+"/#/api?q=configure"), chromedp.Reload(), until(`document.querySelector('[aria-label="Find an operation"]')`),
		chromedp.Evaluate(`document.querySelector('.virtual').textContent`, &listed))
	if strings.Contains(listed, "bier-topology-api") {
		t.Errorf("after its -ui feature went the explorer lists\n%s", listed)
	}

	// A user without the role reads why, and is not asked to log in again; an ended session is.
	run(ctx, t, "out", chromedp.Navigate(c.HTTP+"/#/account"), press("Log out"), logIn("user", "user"), chromedp.Navigate(c.HTTP+"/#/access"), shows("roles[admin]"), until(`!document.querySelector('dialog')`))
	c.Do("PUT", "/auth/v1/users/user@sdn", "admin:admin", `{"password":"another-one"}`)
	run(ctx, t, "ended", chromedp.Navigate(c.HTTP+"/#/devices"), press("Rediscover"), shows("The session has ended"), fill("User", "user"), fill("Password", "another-one"), chromedp.Click(`dialog .login button`), until(`!document.querySelector('dialog')`))

	c.Kill()
	run(ctx, t, "away", chromedp.Navigate(c.HTTP+"/#/devices"), press("Rediscover"), until(`document.querySelector('[data-state="away"]')`), shows("sw5"))
	for _, s := range complaints() {
		// Refusals asked for above, and the end of the controller, are noted by the browser as well.
		if !strings.Contains(s, "status of 40") && !strings.Contains(s, "ERR_") {
			t.Errorf("the browser complains: %s", s)
		}
	}
}
