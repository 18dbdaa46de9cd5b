//go:build peers

package webpeers

import (
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	lab "ctl.internal/internal/lab/network"
	"ctl.internal/test/harness"
)

// The first page says what is wrong while it is, with the way to its place, and stops saying it; what was lost is on the map after
// a load of the page, too, and no node moves.
func TestNow(t *testing.T) {
	ctx, complaints := browser(t)
	net, err := lab.Start(lab.Options{Topology: "ring:3"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(net.Close)
	c := harness.Start(t, bin, map[string]string{"switch_swdb.csv": string(net.CSV())})
	c.Ctl("feature:install --grant ctl-switch-all")
	c.Ctl("switch:TopoDiscover")
	title := func(text string) chromedp.Action { return until(`document.title === ` + strconv.Quote(text)) }
	link := func(up bool) {
		t.Helper()
		if err := net.SetLink("sw1", "sw2", up); err != nil {
			t.Fatal(err)
		}
		c.Ctl("switch:TopoDiscover")
	}
	run(ctx, t, "calm", chromedp.Navigate(c.HTTP+"/"), logIn("admin", "admin"), chromedp.WaitVisible(`[data-state=calm]`),
		shows("Nothing is wrong."), shows("Topology switch:1 by switch"), title("Now – ctl"),
		until(`document.querySelector('link[rel=icon]').getAttribute('href').endsWith('/icon.svg')`))

	run(ctx, t, "map", showPage("#/map/switch%3A1"), shows("3 nodes, 3 links"))
	link(false)
	run(ctx, t, "lost", shows("1 lost link, the newest at"), chromedp.Reload(), shows("3 nodes, 3 links"), shows("1 lost link, the newest at"),
		title("(1) Map – ctl"), until(`document.querySelector('link[rel=icon]').getAttribute('href').endsWith('/icon-alarm.svg')`))
	run(ctx, t, "row", showPage("#/now"), chromedp.WaitVisible(`[data-kind="link-lost"][data-open=true]`), shows("Link lost"), shows("sw1 port1"),
		until(`document.querySelector('[data-kind="link-lost"] a.button').getAttribute('href').startsWith('#/map/switch%3A1')`))
	run(ctx, t, "acknowledge", pushed("Acknowledge…"), fill("Note", "cable ordered"), pushed("Acknowledge"),
		chromedp.WaitVisible(`[data-kind="link-lost"][data-open=false]`), shows("cable ordered"), shows("Nothing is wrong that nobody knows of."), title("Now – ctl"))
	run(ctx, t, "count-again", pushed("Count again"), chromedp.WaitVisible(`[data-kind="link-lost"][data-open=true]`), title("(1) Now – ctl"))
	link(true)
	run(ctx, t, "back", until(`!document.querySelector('[data-kind="link-lost"]')`), chromedp.WaitVisible(`[data-state=calm]`), title("Now – ctl"))

	c.Ctl("plugin:stop switch")
	run(ctx, t, "stopped", chromedp.WaitVisible(`[data-kind=plugin]`), shows("ctl plugin:start switch"))
	// A list that cannot be read is not known: nothing of it is shown, and nothing says that all is well.
	run(ctx, t, "fails", chromedp.Evaluate(`window.letThrough = window.fetch; window.fetch = (path, o) => String(path).includes('get-troubles') ?
		Promise.resolve(new Response('{}', {status: 503})) : window.letThrough(path, o); 0`, nil))
	c.Ctl("plugin:start switch")
	run(ctx, t, "unknown", chromedp.WaitVisible(`main [data-state=failed]`), title("(?) Now – ctl"),
		until(`document.querySelector('nav .badge').textContent === '?' && !document.querySelector('[data-state=calm], [data-kind]')`),
		until(`document.querySelector('link[rel=icon]').getAttribute('href').endsWith('/icon-alarm.svg')`))
	run(ctx, t, "known-again", chromedp.Evaluate(`window.fetch = window.letThrough; 0`, nil), pushed("Retry"), chromedp.WaitVisible(`[data-state=calm]`),
		title("Now – ctl"), until(`!document.querySelector('nav .badge')`))

	// Another user who logs in over the page does not see the list of the one before while the own one is read.
	c.Ctl("plugin:stop switch")
	run(ctx, t, "another-user", chromedp.WaitVisible(`[data-kind=plugin]`),
		chromedp.Evaluate(`window.fetch = (path, o) => String(path).includes('get-troubles') ? new Promise(() => {}) : window.letThrough(path, o); 0`, nil),
		evaluate(`window.letThrough('/web/logout', {method: 'POST', headers: {'X-Requested-With': 'ctl'}}).then(r => r.status)`, nil),
		chromedp.Evaluate(`document.querySelector('header nav a[href="#/devices"]').click()`, nil), shows("The session has ended"),
		fill("User", "user"), fill("Password", "user"), chromedp.Click(`dialog .login button`), until(`!document.querySelector('dialog')`),
		showPage("#/now"), chromedp.WaitVisible(`main [data-state=loading]`), title("Now – ctl"),
		until(`!document.querySelector('nav .badge, [data-kind], [data-state=calm]')`))
	for _, s := range complaints() {
		// Before a login, after the session was ended, and of the plugin that was stopped.
		if !strings.Contains(s, "status of 401") && !strings.Contains(s, "status of 503") {
			t.Errorf("the browser complains: %s", s)
		}
	}
}
