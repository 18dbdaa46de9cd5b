//go:build peers

package webpeers

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// focused describes what has the focus: whether it is seen, and whether it is within a dialog.
const focused = `(() => { const e = document.activeElement, s = getComputedStyle(e);
	return {what: e === document.body ? 'body' : (e.getAttribute('aria-label') || e.textContent || e.tagName).trim().slice(0, 40), tag: e.tagName, seen: e.matches(':focus-visible') && s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2, dialog: !!e.closest('dialog')} })()`

type focus struct {
	What, Tag    string
	Seen, Dialog bool
}

// tab presses Tab n times and returns what had the focus after each.
func tab(n int, into *[]focus) chromedp.Tasks {
	var out chromedp.Tasks
	*into = make([]focus, n)
	for i := range n {
		out = append(out, chromedp.KeyEvent(kb.Tab), chromedp.Evaluate(focused, &(*into)[i]))
	}
	return out
}

// has waits until the focus is on something of a name.
func has(what string) chromedp.Action {
	return until(fmt.Sprintf(`%s.what.startsWith(%q)`, focused, what))
}

// empty takes away the key that led here: a driver sends the character by itself, which a browser does not when the key was used.
var empty = chromedp.Evaluate(`document.activeElement.value = ''; 0`, nil)

// All is done without a mouse: the order of the focus, which is always seen; going by keys; the map; dialogs that keep the
// focus and give it back.
func TestKeyboard(t *testing.T) {
	ctx, complaints := browser(t)
	_, c := switches(t, "ring:5", "ctl-switch-all")
	run(ctx, t, "login", chromedp.Navigate(c.HTTP+"/#/map"), chromedp.WaitVisible(`.login`), until(focused+`.tag === 'INPUT'`), chromedp.KeyEvent("admin"), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent("admin"), chromedp.KeyEvent(kb.Enter),
		chromedp.WaitVisible(`header nav`), shows("5 nodes, 5 links"), until(`document.querySelector('canvas.map').dataset.state === 'drawn'`))

	// The order: past the menu, or through it, to the box for finding, the account, and the page.
	var order []focus
	run(ctx, t, "order", tab(32, &order))
	at := map[string]int{}
	for i, f := range order {
		if f.Tag != "BODY" && !f.Seen {
			t.Errorf("the focus on %q (%s) is not seen", f.What, f.Tag)
		}
		if _, seen := at[f.What]; !seen {
			at[f.What] = i + 1
		}
	}
	last := 0
	for _, what := range []string{"Skip to the content", "ctl", "Map", "Devices", "VLANs", "BIER", "YANG", "Find MAC, IP or name", "Find on the map", "Fit", "PNG", "Map: 5 nodes, 5 links. Arrows go to a ne", "Legend and keys", "The same as a table"} {
		if at[what] <= last {
			t.Errorf("%q has the focus at step %d, after %d: %+v", what, at[what], last, order)
		}
		last = max(last, at[what])
	}

	// The map: find, walk to a neighbour, open it.
	run(ctx, t, "map-keys", chromedp.Focus(`canvas.map`), chromedp.KeyEvent("/"), has("Find on the map"), empty, chromedp.KeyEvent("sw1"+kb.Enter), shows("2199023255553"), chromedp.Focus(`canvas.map`))
	for _, key := range []string{kb.ArrowRight, kb.ArrowDown, kb.ArrowLeft, kb.ArrowUp} {
		run(ctx, t, "map-arrow", chromedp.KeyEvent(key))
	}
	run(ctx, t, "map-open", until(`document.querySelector('canvas.map + [role=status]').textContent.includes('answering')`), chromedp.KeyEvent("+"), chromedp.KeyEvent("f"), chromedp.KeyEvent("h"), shows("1 hop"), chromedp.KeyEvent(kb.Enter), until(`location.hash.startsWith('#/devices/')`), chromedp.WaitVisible(`.ports`))

	// A dialog: opened by Enter, keeps the focus, closes by Escape, and what opened it has the focus again.
	run(ctx, t, "dialog", chromedp.Focus(`//button[.="Add VLAN…"]`, chromedp.BySearch), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(`dialog`))
	run(ctx, t, "dialog-order", tab(20, &order))
	for _, f := range order {
		if !f.Dialog && f.Tag != "BODY" { // the browser's own controls have it between
			t.Errorf("the focus left the dialog to %q", f.What)
		}
	}
	run(ctx, t, "dialog-closed", chromedp.KeyEvent(kb.Escape), until(`!document.querySelector('dialog')`), has("Add VLAN…"))

	// Keys: / finds, g and a letter goes, ? lists them.
	run(ctx, t, "keys", chromedp.KeyEvent("/"), has("Find MAC, IP or name"), empty, chromedp.KeyEvent("sw4"+kb.Enter), shows("Find sw4"), until(`[...document.querySelectorAll('td a')].some(a => a.textContent === 'sw4')`),
		chromedp.Evaluate(`document.activeElement.blur()`, nil), chromedp.KeyEvent("g"), chromedp.KeyEvent("v"), until(`location.hash === '#/vlans'`), cell("default"),
		chromedp.KeyEvent("?"), shows("This list; the keys of the map are listed below the map"), chromedp.KeyEvent(kb.Escape), until(`!document.querySelector('dialog')`))
	noComplaints(t, complaints())
}
