//go:build peers

package webpeers

import (
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"ctl.internal/internal/lab/faults"
	lab "ctl.internal/internal/lab/network"
	"ctl.internal/test/harness"
)

// withUnheardSwitch adds a switch to the list that never answers.
func withUnheardSwitch(list string) string {
	rows := strings.Split(strings.TrimSpace(list), "\n")
	row := strings.Split(rows[1], ",")
	row[0] = "02:00:00:00:99:01"
	row[6] = "9" // nothing answers at the port of the discard service
	return strings.Join(append(rows, strings.Join(row, ",")), "\n") + "\n"
}

// The pages say that something is wrong: a plugin that is stopped, a switch that has never answered or does not answer any
// more, a VLAN at one end of a link only.
func TestStatesOfFaults(t *testing.T) {
	ctx, _ := browser(t)
	net, err := lab.Start(lab.Options{Topology: "ring:3"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(net.Close)
	c := harness.Start(t, bin, map[string]string{"switch_swdb.csv": withUnheardSwitch(string(net.CSV()))})
	c.Ctl("feature:install --grant ctl-switch-all")
	c.Ctl("switch:TopoDiscover")
	operation := func(name, input string) {
		t.Helper()
		c.Do("POST", "/restconf/operations/"+name, "admin:admin", `{"input":`+input+`}`)
	}

	run(ctx, t, "unheard", chromedp.Navigate(c.HTTP+"/#/devices"), logIn("admin", "admin"), cell("sw1"),
		shows("never answered"), cell("02:00:00:00:99:01"))

	operation("switch:vlan-add", `{"switch":"sw1","vlan-id":7,"vlan-name":"seven","tagged":["port1"]}`)
	run(ctx, t, "vlan-one-end", showPage("#/vlans"), press("Read again"), cell("one end of a link only"), shows("sw1 port port1 has it"))
	run(ctx, t, "vlan-layer", showPage("#/map/switch%3A1?layer=vlan:7"), shows("1 link that does not match"))

	if err := net.SetFaults("sw2", faults.Set{Silent: true}); err != nil {
		t.Fatal(err)
	}
	c.Ctl("switch:TopoDiscover")
	run(ctx, t, "silent", showPage("#/devices"), press("Rediscover"),
		until(`[...document.querySelectorAll('td .mark')].some(m => m.textContent.includes('last seen'))`),
		showPage("#/devices/switch%3A1/2199023255554/ports"), chromedp.WaitVisible(`[data-state=old]`),
		until(`!document.querySelector('td .mark.good')`))
	// What is not known is blank, not 0.
	run(ctx, t, "unknown-rates", until(`(() => {
		const titles = [...document.querySelectorAll('th')].map(h => h.textContent.trim()), at = titles.findIndex(x => x.startsWith('New errors'));
		return at >= 0 && document.querySelector('tbody tr').cells[at].textContent.trim() === '';
	})()`))

	operation("ctl-system:stop-plugin", `{"name":"switch"}`)
	run(ctx, t, "stopped", showPage("#/system"), chromedp.WaitVisible(`[data-state=source]`), shows("does not run"),
		showPage("#/devices"), chromedp.WaitVisible(`[data-state=source]`),
		until(`![...document.querySelectorAll('td .mark')].some(m => m.textContent.includes('answering'))`), shows("last seen"))
	operation("ctl-system:start-plugin", `{"name":"switch"}`)
	run(ctx, t, "started", until(`!document.querySelector('[data-state=source]')`),
		until(`[...document.querySelectorAll('td .mark.good')].some(m => m.textContent.includes('answering'))`))
}

// A secret is sent, but it is in no text of the page and in no storage of the browser; what was pressed when the session had
// ended is done after the login; parts of names and addresses are found.
func TestStatesOfSessions(t *testing.T) {
	ctx, _ := browser(t)
	_, c := switches(t, "ring:3", "ctl-switch-all")
	const secret = "s3cret-of-the-lab"
	var kept, shown, sent string
	run(ctx, t, "secret", chromedp.Navigate(c.HTTP+"/#/api/"+url.PathEscape("POST /restconf/operations/switch-db:add-switch-entry")),
		logIn("admin", "admin"), fill("node-ip", "127.0.0.1:9"), fill("node-mac", "02:00:00:00:99:02"), fill("community", secret),
		until(`document.querySelector('[data-testid=snippet]').textContent.includes('**********')`),
		press("Send"), chromedp.WaitVisible(`[data-status="200"]`), press("JSON"),
		chromedp.Evaluate(`JSON.stringify([{...sessionStorage}, {...localStorage}])`, &kept),
		chromedp.Evaluate(`document.body.innerText + [...document.querySelectorAll('textarea')].map(e => e.value).join()`, &shown),
		chromedp.Evaluate(`sessionStorage.getItem('ctl.requests') ?? ''`, &sent))
	if strings.Contains(kept, secret) || strings.Contains(shown, secret) {
		t.Errorf("the secret is kept in %s or shown in %s", kept, shown)
	}
	if !strings.Contains(sent, "02:00:00:00:99:02") {
		t.Errorf("the request is not kept: %s", sent)
	}
	if got := c.Ctl("switch:search 02:00:00:00:99:02"); !strings.Contains(got, "mac-address") {
		t.Errorf("the request was not carried out: %s", got)
	}

	run(ctx, t, "find", showPage("#/find?for=port1"), cell("name port1"), showPage("#/find?for=02-00-00-00-00-03"), cell("sw3"))

	// The button is pressed by the page: what it reads by itself may have shown the login over it before a mouse could.
	end := evaluate(`fetch('/web/logout', {method: 'POST', headers: {'X-Requested-With': 'ctl'}}).then(r => {
		[...document.querySelectorAll('main button')].find(b => b.textContent.trim() === 'Rediscover').click(); return r.status })`, nil)
	run(ctx, t, "login-again", showPage("#/devices"), cell("sw1"), end, shows("The session has ended"),
		chromedp.SetValue(`dialog input[name=user]`, "admin"), chromedp.SetValue(`dialog input[name=password]`, "admin"),
		chromedp.Click(`dialog .login button`), until(`!document.querySelector('dialog')`), shows("All switches were asked."))
	run(ctx, t, "storage", chromedp.Evaluate(`sessionStorage.getItem('ctl.requests') ?? ''`, &kept))
	if kept != "" {
		t.Errorf("the requests of the session that has ended are kept: %s", kept)
	}
}
