//go:build peers

package webpeers

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"ctl.internal/internal/lab/network"
	"ctl.internal/test/harness"
)

// said waits for words in the line that tells how a request went.
func said(words string) chromedp.Action {
	return chromedp.WaitVisible(`//section[@id="detail"]/p[@role="status" and contains(., '`+words+`')]`, chromedp.BySearch)
}

// The pages are used with the keyboard alone, what is chosen is in the address, and what
// goes wrong is told in words: also that the controller is gone.
func TestKeyboardAddressesAndFaults(t *testing.T) {
	ctx, _ := browser(t)
	bin := t.TempDir()
	if out, err := harness.Build(root, bin); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lab, err := network.Start(network.Options{Topology: "ring:3"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(lab.Close)
	c := harness.Start(t, bin, map[string]string{"switch_swdb.csv": string(lab.CSV())})
	c.Ctl("feature:install ctl-switch-all")
	at := strings.Replace(c.HTTP, "http://", "http://admin:admin@", 1)
	keys := func(keys ...string) (tasks chromedp.Tasks) {
		for _, k := range keys {
			tasks = append(tasks, chromedp.KeyEvent(k))
		}
		return tasks
	}
	is := func(what, want string) {
		t.Helper()
		var got string
		run(ctx, t, "is", chromedp.Evaluate(what, &got))
		if got != want {
			t.Errorf("%s is %q, want %q", what, got, want)
		}
	}
	const focus = `(e => e.id || e.getAttribute("aria-label") || e.tagName)(document.activeElement)`
	run(ctx, t, "state", chromedp.Navigate(at+"/"), chromedp.WaitVisible(`//small[@id="counts" and contains(., "3 nodes, 3 links")]`, chromedp.BySearch),
		chromedp.Focus(`#table summary`), keys(kb.Enter), chromedp.WaitVisible(`//table[@id="links"]//tr[3]`, chromedp.BySearch))

	c.Kill()
	run(ctx, t, "state-gone", chromedp.WaitVisible(`//p[@id="trouble" and contains(., "does not answer") and contains(., "What is shown is of")]`, chromedp.BySearch),
		chromedp.WaitVisible(`//small[@id="counts" and contains(., "3 nodes, 3 links")]`, chromedp.BySearch))
	c.Launch()
	at = strings.Replace(c.HTTP, "http://", "http://admin:admin@", 1)

	run(ctx, t, "keyboard", chromedp.Navigate(at+"/apidoc/"), chromedp.WaitReady(`#list button`), keys(kb.Tab, kb.Tab, kb.Tab, kb.Tab, kb.Tab))
	is(focus, "filter")
	run(ctx, t, "nothing", keys("zzz"), chromedp.WaitVisible(`//ul[@id="list" and contains(., "Nothing here matches")]`, chromedp.BySearch), keys(kb.Backspace, kb.Backspace, kb.Backspace))
	run(ctx, t, "found", keys("vlan:", kb.ArrowDown, kb.ArrowDown, kb.End, kb.ArrowUp, kb.Home, kb.Enter), chromedp.WaitVisible(`#send`))
	is(`document.title`, "POST /restconf/operations/vlan:add-vlan – ctl – API explorer")
	run(ctx, t, "out-of-the-list", keys(kb.Tab))
	is(focus, "Address")
	run(ctx, t, "sent", keys(kb.Tab), chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(2)), said("404 Not Found"), said("/vlan:input/node-id: there is no switch 1"))
	run(ctx, t, "another", choose("get-node-list", "get-node-list"), chromedp.WaitVisible(`//h2[contains(., "get-node-list")]`, chromedp.BySearch), chromedp.Reload(),
		chromedp.WaitVisible(`//h2[contains(., "get-node-list")]`, chromedp.BySearch), chromedp.NavigateBack(), chromedp.WaitVisible(`//h2[contains(., "vlan:add-vlan")]`, chromedp.BySearch))

	run(ctx, t, "fields", choose("topology/topology=", "node={node_node_id}"), chromedp.WaitVisible(`#detail label`), chromedp.Click(`#send`), said("needs a value for topology_topology_id"))
	is(focus, "INPUT")
	run(ctx, t, "filled", keys("a/b,c", kb.Tab, "é", kb.Enter), said("404 Not Found"), said("there is no such data"))
	is(`document.querySelector('[aria-label=Address]').value`, "/restconf/config/network-topology:network-topology/topology=a%2Fb%2Cc/node=%C3%A9")
	run(ctx, t, "long", chromedp.Evaluate(`document.querySelector('#detail').append(...answer(JSON.stringify(Array(100000).fill(12345)))); 0`, nil),
		chromedp.WaitVisible(`//p[contains(., "The first 200000 of")]`, chromedp.BySearch), chromedp.Click(`//button[contains(., "Show all")]`, chromedp.BySearch))
	is(`String([...document.querySelectorAll('#answer')].pop().textContent.length > 200000)`, "true")
	run(ctx, t, "unknown", chromedp.Navigate(at+"/yangui/#nosuch"), chromedp.WaitVisible(`//p[contains(., "There is no “nosuch” here")]`, chromedp.BySearch))
	run(ctx, t, "yang", chromedp.Navigate(at+"/yangui/#vlan"), chromedp.WaitVisible(`//section[@id="detail"]/h2[contains(., "vlan")]`, chromedp.BySearch))

	run(ctx, t, "before-the-end", chromedp.Navigate(at+"/apidoc/#POST%20%2Frestconf%2Foperations%2Fvlan%3Aadd-vlan"), chromedp.WaitVisible(`#send`))
	c.Kill()
	run(ctx, t, "gone", chromedp.Click(`#send`), said("The controller does not answer"), said("Whether the request was carried out is not known"))
}
