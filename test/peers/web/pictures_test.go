//go:build peers

package webpeers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// everyPage is where each page is, with an expression that is true once it shows its content.
var everyPage = []struct{ name, path, ready string }{
	{"now", "#/now", `document.querySelector('.heard li')`},
	{"map", "#/map", `document.querySelector('canvas.map')?.dataset.state === 'drawn'`},
	{"devices", "#/devices", `document.querySelectorAll('tbody tr').length > 1`},
	{"device", "#/devices/switch%3A1/2199023255553", `document.querySelectorAll('.ports button').length > 0`},
	{"vlans", "#/devices/switch%3A1/2199023255553/vlans", `document.querySelectorAll('tbody tr').length > 0`},
	{"fdb", "#/devices/switch%3A1/2199023255553/fdb", `document.querySelectorAll('tbody tr').length > 0`},
	{"arp", "#/devices/switch%3A1/2199023255553/arp", `document.querySelectorAll('tbody tr').length > 0`},
	{"stp", "#/devices/switch%3A1/2199023255553/stp", `document.querySelectorAll('tbody tr').length > 0`},
	{"acl", "#/devices/switch%3A1/2199023255553/acl", `document.querySelector('main .card')`},
	{"neighbours", "#/devices/switch%3A1/2199023255553/neighbours", `document.querySelectorAll('tbody tr').length > 0`},
	{"raw", "#/devices/switch%3A1/2199023255553/raw", `document.querySelector('main pre')`},
	{"history", "#/devices/switch%3A1/2199023255553/history", `document.querySelector("main .tabs") && document.querySelector("main .note, main tbody") && !document.querySelector(".skeleton")`},
	{"matrix", "#/vlans", `document.querySelectorAll('tbody tr').length > 0`},
	{"find", "#/find?for=sw3", `document.querySelectorAll('tbody tr').length > 0`},
	{"find-mac", "#/find?for=02:00:00:00:00:03", `document.querySelector('main .note, main tbody') && !document.querySelector('.skeleton')`},
	{"find-none", "#/find?for=nosuch", `document.querySelector('main .note')`},
	{"not-found", "#/nowhere", `document.querySelector('main .note')`},
	{"bier", "#/bier", `document.querySelector('.tabs') && !document.querySelector('.skeleton')`},
	{"bier-nodes", "#/bier/switch%3A1/nodes", `document.querySelectorAll('tbody tr').length > 0`},
	{"bier-domains", "#/bier/switch%3A1/domains", `document.querySelectorAll('main .row').length > 0`},
	{"bier-bift", "#/bier/switch%3A1/bift", `document.querySelectorAll('main select').length > 1 && !document.querySelector('.skeleton')`},
	{"bier-routers", "#/bier/switch%3A1/routers", `document.querySelector('main .note, main tbody') && !document.querySelector('.skeleton')`},
	{"bier-ports", "#/bier/switch%3A1/ports", `document.querySelector('main form input') && !document.querySelector('.skeleton')`},
	{"bier-check", "#/bier/switch%3A1/check", `document.querySelectorAll('main h2').length > 1 && !document.querySelector('.skeleton')`},
	{"plugins", "#/system", `document.querySelectorAll('tbody tr').length > 0`},
	{"features", "#/system/features", `document.querySelectorAll('tbody tr').length > 5`},
	{"log", "#/system/log", `document.querySelectorAll('tbody tr').length > 1`},
	{"events", "#/system/events", `document.querySelector('main .note, main tbody')`},
	{"tasks", "#/system/tasks", `document.querySelector('main .note, main tbody') && !document.querySelector('.skeleton')`},
	{"audit", "#/system/audit", `document.querySelectorAll('tbody tr').length > 1`},
	{"cluster", "#/system/cluster", `document.querySelectorAll('tbody tr').length > 1`},
	{"certificates", "#/system/certificates", `document.querySelector('main .note, main .card') && !document.querySelector('.skeleton')`},
	{"snapshots", "#/system/snapshots", `document.querySelectorAll('main .card').length > 0`},
	{"metrics", "#/system/metrics", `document.querySelector('.chart') !== null`},
	{"users", "#/access", `document.querySelectorAll('tbody tr').length > 1`},
	{"policies", "#/access/policies", `document.querySelector('main .note, .policies')`},
	{"roles", "#/access/roles", `document.querySelectorAll('tbody tr').length > 1`},
	{"domains", "#/access/domains", `document.querySelectorAll('tbody tr').length > 0`},
	{"grants", "#/access/grants", `document.querySelectorAll('tbody tr').length > 1`},
	{"tokens", "#/access/tokens", `document.querySelectorAll('tbody tr').length > 0`},
	{"rules", "#/access/rules", `document.querySelectorAll('tbody tr').length > 1`},
	{"why", "#/access/why", `document.querySelectorAll('form input').length > 1`},
	{"repos", "#/repos", `document.querySelector('main .note, main .numbers, main table, main svg.picture') && !document.querySelector('.skeleton')`},
	{"repos-projects", "#/repos/projects", `document.querySelector('main .note, main .numbers, main table, main svg.picture') && !document.querySelector('.skeleton')`},
	{"repos-authors", "#/repos/authors", `document.querySelector('main .note, main .numbers, main table, main svg.picture') && !document.querySelector('.skeleton')`},
	{"repos-organizations", "#/repos/organizations", `document.querySelector('main .note, main .numbers, main table, main svg.picture') && !document.querySelector('.skeleton')`},
	{"repos-files", "#/repos/files", `document.querySelector('main .note, main .numbers, main table, main svg.picture') && !document.querySelector('.skeleton')`},
	{"repos-new", "#/repos/new?ref2=v1&project=zoo", `document.querySelector('main .note, main .numbers, main table, main svg.picture') && !document.querySelector('.skeleton')`},
	{"repos-backports", "#/repos/backports?branch=stable/boron&project=zoo", `document.querySelector('main .note, main .numbers, main table, main svg.picture') && !document.querySelector('.skeleton')`},
	{"repos-notes", "#/repos/notes?ref1=master&ref2=v1&project=zoo", `document.querySelector('main .note, main .numbers, main table, main svg.picture') && !document.querySelector('.skeleton')`},
	{"repos-source", "#/repos/notes?ref1=master&ref2=v1&project=zoo&view=source", `document.querySelector('main .note, main pre') && !document.querySelector('.skeleton')`},
	{"repos-compare", "#/repos/compare?ref1=master&ref2=v1&project=zoo", `document.querySelector('main .note, main .numbers, main table, main svg.picture') && !document.querySelector('.skeleton')`},
	{"repos-reviews", "#/repos/reviews", `document.querySelector('main .note, main .numbers, main table, main svg.picture') && !document.querySelector('.skeleton')`},
	{"plugin-pages", "#/plugin", `document.querySelector('main .list') && !document.querySelector('.skeleton')`},
	{"plugin-page", "#/plugin/racks", `document.querySelector('.detail .card form, .detail .note') && !document.querySelector('.skeleton')`},
	{"api", "#/api", `document.querySelectorAll('.virtual li').length > 5`},
	{"operation", "#/api/POST%20%2Frestconf%2Foperations%2Fvlan%3Aadd-vlan-and-set-ports", `document.querySelectorAll('.detail .field').length > 3`},
	{"yang", "#/yang/vlan", `document.querySelectorAll('.detail details').length > 3`},
	{"account", "#/account", `document.querySelectorAll('tbody tr').length > 0`},
}

// TestPictures leaves a picture of every page, and of every dialog that can be opened there, in the folder that PICTURES names, in both themes and three widths, of the
// controller at URL (admin/admin); ONLY=NAME,… makes some of them, MORE="NAME=#/PATH …" others besides:
//
//	PICTURES=/tmp/pictures URL=http://127.0.0.1:8181 go test -tags peers -run TestPictures ./test/peers/web
func TestPictures(t *testing.T) {
	dir, at := os.Getenv("PICTURES"), strings.TrimSuffix(os.Getenv("URL"), "/")
	if dir == "" || at == "" {
		t.Skip("SKIPPED, NOT TESTED: the peer, a controller to draw, is not named: set PICTURES and URL")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, _ := browser(t)
	only := os.Getenv("ONLY")
	dark := func(on bool) chromedp.Action {
		scheme := "light"
		if on {
			scheme = "dark"
		}
		return emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}})
	}
	picture := func(name string, width int64) {
		height := int64(900)
		if width < 500 {
			height = 844
		}
		for _, theme := range []string{"light", "dark"} {
			var png []byte
			run(ctx, t, name, dark(theme == "dark"), chromedp.EmulateViewport(width, height), chromedp.ActionFunc(func(ctx context.Context) (err error) {
				png, err = shot(ctx)
				return err
			}))
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", name, width, theme)), png, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	run(ctx, t, "login", chromedp.Navigate(at+"/"), chromedp.WaitVisible(`.login`))
	picture("login", 1280)
	run(ctx, t, "in", logIn("admin", "admin"))
	pages := everyPage
	for one := range strings.FieldsSeq(os.Getenv("MORE")) {
		name, path, _ := strings.Cut(one, "=")
		pages = append(pages, struct{ name, path, ready string }{name, path, `document.querySelector('main h1') && !document.querySelector('.skeleton') && (!location.hash.includes('layer=') || document.querySelector('.tag'))`})
	}
	for _, p := range pages {
		if only != "" && !strings.Contains(","+only+",", ","+p.name+",") {
			continue
		}
		for _, width := range []int64{390, 1280, 1920} {
			run(ctx, t, p.name, chromedp.EmulateViewport(width, 900), showPage(p.path), until(p.ready))
			picture(p.name, width)
		}
	}
	for _, d := range everyDialog {
		name := "dialog-" + d.name
		if only != "" && !strings.Contains(","+only+",", ","+name+",") {
			continue
		}
		var there bool
		run(ctx, t, name, chromedp.EmulateViewport(1280, 900), showPage(d.path), until(`document.querySelector('main h1') && !document.querySelector('.skeleton')`),
			chromedp.Evaluate(fmt.Sprintf(`%q === '' || [...document.querySelectorAll('main button:enabled')].some(b => b.textContent.trim() === %q)`, d.first, d.first), &there))
		if !there {
			t.Logf("there is no picture of %s: the page has no button %q", name, d.first)
			continue
		}
		run(ctx, t, name, d.opened())
		for _, width := range []int64{390, 1280} {
			picture(name, width)
		}
		run(ctx, t, name, closed)
	}
}
