//go:build peers

package webpeers

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	lab "ctl.internal/internal/lab/network"
	"ctl.internal/test/harness"
)

// gate holds, fails or lets through what the page asks for.
type gate struct {
	ctx  context.Context
	mu   sync.Mutex
	held []fetch.RequestID
	how  string // hold, fail, or empty: let it through
}

func (g *gate) take(e any) {
	p, ok := e.(*fetch.EventRequestPaused)
	if !ok {
		return
	}
	g.mu.Lock()
	how := g.how
	if how == "hold" {
		g.held = append(g.held, p.RequestID)
	}
	g.mu.Unlock()
	if how != "hold" {
		go g.answer(p.RequestID, how)
	}
}

func (g *gate) answer(id fetch.RequestID, how string) {
	if how == "fail" {
		_ = chromedp.Run(g.ctx, fetch.FailRequest(id, network.ErrorReasonConnectionRefused))
		return
	}
	_ = chromedp.Run(g.ctx, fetch.ContinueRequest(id))
}

// set changes what is done from now on; what was held goes on.
func (g *gate) set(how string) chromedp.Action {
	return chromedp.ActionFunc(func(context.Context) error {
		g.mu.Lock()
		held := g.held
		g.held, g.how = nil, how
		g.mu.Unlock()
		for _, id := range held {
			go g.answer(id, how)
		}
		return nil
	})
}

// Each state of a page says what it is and what to do: empty, loading, refused, a plugin that is away, stale, no controller; and
// addresses that are not there or not allowed are pages.
func TestStates(t *testing.T) {
	ctx, complaints := browser(t)
	net, err := lab.Start(lab.Options{Topology: "ring:3"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(net.Close)
	c := harness.Start(t, bin, map[string]string{"switch_swdb.csv": string(net.CSV())})
	run(ctx, t, "login", chromedp.Navigate(c.HTTP+"/#/map"), logIn("admin", "admin"), shows("No topology is known"), chromedp.WaitVisible(`[data-state=empty] a.button`))
	for path, words := range map[string]string{"#/devices": "No device is known", "#/vlans": "No plugin for switches is installed", "#/bier": "BIER is not installed", "#/repos": "Repository information is not installed",
		"#/find": "Enter a MAC address", "#/access/policies": "There is no policy", "#/system/tasks": "Nothing is in progress", "#/nowhere": "There is no page", "#/devices/a/b": "There is no node b"} {
		run(ctx, t, "empty", showPage(path), chromedp.WaitVisible(`[data-state=empty]`), shows(words))
	}
	c.Ctl("feature:install --grant ctl-switch-all")
	c.Ctl("switch:TopoDiscover")

	g := &gate{ctx: ctx}
	chromedp.ListenTarget(ctx, g.take)
	run(ctx, t, "loading", showPage("#/system"), shows("switch"), fetch.Enable().WithPatterns([]*fetch.RequestPattern{{URLPattern: "*/restconf/*"}, {URLPattern: "*/web/me*"}}),
		g.set("hold"), showPage("#/vlans"), chromedp.WaitVisible(`[data-state=loading]`), g.set(""), cell("default"), until(`document.querySelector('[data-state=ready]')`))
	// No controller: what was known stays, marked; the page goes on by itself when it answers.
	run(ctx, t, "away", g.set("fail"), press("Read again"), chromedp.WaitVisible(`[data-state=away]`), chromedp.WaitVisible(`[data-state=stale]`), shows("showing what was known then"), cell("default"))
	run(ctx, t, "back", g.set(""), until(`!document.querySelector('[data-state=away]')`), press("Read again"), until(`document.querySelector('[data-state=ready]') && !document.querySelector('[data-state=stale]')`),
		fetch.Disable())
	// A plugin that is away.
	c.Do("POST", "/restconf/operations/ctl-system:stop-plugin", "admin:admin", `{"input":{"name":"switch"}}`)
	run(ctx, t, "plugin-away", press("Read again"), chromedp.WaitVisible(`[data-state=stale]`), showPage("#/devices/switch%3A1/2199023255553/vlans"), until(`document.querySelector('main [data-state=failed], main [data-state=empty]')`))
	c.Do("POST", "/restconf/operations/ctl-system:start-plugin", "admin:admin", `{"input":{"name":"switch"}}`)
	// Who may not is told why, in the page and by itself.
	run(ctx, t, "not-there", chromedp.Navigate(c.HTTP+"/nothing"), shows("there is nothing at this address"), chromedp.WaitVisible(`main.refusal`))
	run(ctx, t, "refused", chromedp.Navigate(c.HTTP+"/#/account"), press("Log out"), logIn("user", "user"), chromedp.Navigate(c.HTTP+"/#/access/tokens"), chromedp.WaitVisible(`[data-state=failed]`), shows("this needs the role admin"), shows("Ask an administrator"),
		showPage("#/system/plugins"), until(`document.querySelector('td button[disabled][title="This needs the role admin"]')`),
		chromedp.Navigate(c.HTTP+"/auth/v1/users"), chromedp.WaitVisible(`main.refusal`), shows("Not allowed"))
	for _, s := range complaints() {
		if !strings.Contains(s, "status of 40") && !strings.Contains(s, "status of 503") && !strings.Contains(s, "ERR_CONNECTION_REFUSED") {
			t.Errorf("the browser complains: %s", s)
		}
	}
}
