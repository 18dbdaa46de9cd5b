//go:build peers

package webpeers

import (
	"encoding/base64"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/chromedp"
)

// A table of 10,000 rows is in the document in part only, and sorted, filtered and saved whole; of a long answer the
// explorer shows a part at a time, reads no more than a bound, and says how to have all of it.
func TestLongAnswers(t *testing.T) {
	ctx, complaints := browser(t)
	_, c := switches(t, "ring:3", "ctl-switch-all")
	var body atomic.Pointer[[]byte]
	chromedp.ListenTarget(ctx, func(e any) {
		if paused, ok := e.(*fetch.EventRequestPaused); ok {
			go func() {
				_ = chromedp.Run(ctx, fetch.FulfillRequest(paused.RequestID, 200).WithBody(base64.StdEncoding.EncodeToString(*body.Load())).
					WithResponseHeaders([]*fetch.HeaderEntry{{Name: "Content-Type", Value: "application/json"}}))
			}()
		}
	})
	answer := func(text string) { b := []byte(text); body.Store(&b) }
	only := func(pattern string) chromedp.Action {
		return fetch.Enable().WithPatterns([]*fetch.RequestPattern{{URLPattern: pattern}})
	}

	const rows = 10_000
	var entries []string
	for i := range rows {
		entries = append(entries, fmt.Sprintf(`{"vlan-id":1,"dest-mac-addr":%d,"port":%d}`, 0x020000000000+i, i%24+1))
	}
	answer(`{"output":{"fdb-table-entry":[` + strings.Join(entries, ",") + `]}}`)
	var inDocument int
	var first, saved string
	const lastCell = `[...document.querySelectorAll('main tbody tr:not([aria-hidden])')].at(-1).cells[0].textContent`
	run(ctx, t, "login", chromedp.Navigate(c.HTTP+"/"), logIn("admin", "admin"), only("*/restconf/operations/fdb:get-fdb-table"), showPage("#/devices/switch%3A1/2199023255553/fdb"),
		until(fmt.Sprintf(`document.querySelector('main table').getAttribute('aria-rowcount') === '%d'`, rows)),
		chromedp.Evaluate(`document.querySelectorAll('main tbody tr').length`, &inDocument),
		chromedp.Evaluate(`window.saved = []; { const f = URL.createObjectURL; URL.createObjectURL = b => { saved.push(b); return f.call(URL, b) } }`, nil),
		press("CSV"), until(`saved.length === 1`), evaluate(`saved[0].text()`, &saved))
	lines := strings.Split(strings.TrimSpace(saved), "\n")
	if inDocument > 100 || len(lines) != rows+1 {
		t.Fatalf("%d rows are in the document, the CSV has %d lines", inDocument, len(lines))
	}
	last, _, _ := strings.Cut(lines[rows], ",")
	// The scroll bar goes through all of them, a filter finds one, and a click turns the order.
	run(ctx, t, "table-end", until(fmt.Sprintf(`(document.querySelector('main .scroll').scrollTop = 1e9, %s === %q)`, lastCell, last)),
		chromedp.Evaluate(`document.querySelectorAll('main tbody tr').length`, &inDocument),
		press("MAC ▲"), until(fmt.Sprintf(`(document.querySelector('main .scroll').scrollTop = 0, document.querySelector('main tbody tr:not([aria-hidden])').cells[0].textContent === %q)`, last)),
		chromedp.SendKeys(`[aria-label="Filter forwarding table"]`, "02:00:00:00:12:34"), shows("1 of 10,000 rows"), cell("02:00:00:00:12:34"),
		chromedp.Evaluate(`document.querySelector('main tbody tr').cells[0].textContent`, &first))
	if inDocument > 100 || first != "02:00:00:00:12:34" {
		t.Errorf("%d rows are in the document at the end of the table, the filter finds %s", inDocument, first)
	}

	// An answer of some hundred kilobytes comes in parts, one of many megabytes is cut off.
	answer(`{"text":"` + strings.Repeat("a", 250_000) + `the-end"}`)
	const shown = `document.getElementById('answer').textContent`
	run(ctx, t, "parts", only("*/restconf/modules"), showPage("#/api/GET%20%2Frestconf%2Fmodules"), press("Send"), until(`document.querySelector('[data-parts="3"]')`), until(shown+`.length === 100000`),
		press("On"), press("On"), until(shown+`.includes('the-end')`), until(`[...document.querySelectorAll('[data-parts] button')].find(b => b.textContent === 'On').disabled`), press("Back"), until(`!`+shown+`.includes('the-end')`))
	answer(strings.Repeat("0123456789", 600_000))
	run(ctx, t, "cut", press("Send"), until(`document.querySelector('[data-state=cut] a[download]').pathname === '/restconf/modules'`), until(`document.querySelector('[data-parts="50"]')`), until(shown+`.length === 100000`), fetch.Disable())
	// What was sent is sent again from the list of one's requests.
	run(ctx, t, "again", showPage("#/api"), chromedp.Click(`//main//a[contains(., "GET /restconf/modules")]`, chromedp.BySearch), press("Send"), until(shown+`.includes('ietf-yang-library')`))
	noComplaints(t, complaints())
}
