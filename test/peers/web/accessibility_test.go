//go:build peers

package webpeers

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"ctl.internal/plugins/repoinfo/gittest"
)

// axeSource is the text of axe-core, in the version that host/web/package-lock.json pins; npm fetches it when it is not there.
func axeSource(t *testing.T) string {
	t.Helper()
	const file = "node_modules/axe-core/axe.min.js"
	text, err := os.ReadFile(filepath.Join(root, "host/web", file))
	if err == nil {
		return string(text)
	}
	dir := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json", ".npmrc"} {
		text, err := os.ReadFile(filepath.Join(root, "host/web", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "ci", "--no-progress")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("SKIPPED, NOT TESTED: the peer axe-core cannot be had: npm ci: %v\n%s", err, out)
	}
	if text, err = os.ReadFile(filepath.Join(dir, file)); err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// evaluate evaluates an expression of the page, and waits for it when it is a promise.
func evaluate(expression string, into any) chromedp.Action {
	return chromedp.Evaluate(expression, into, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) })
}

// showPage goes to a page of the console that is open, and waits until it has drawn something of it.
func showPage(hash string) chromedp.Action {
	return evaluate(fmt.Sprintf(`location.hash = %q; new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(() => done(0)))))`, hash), nil)
}

// media emulates what a user has set, as "prefers-color-scheme=dark".
func media(settings ...string) chromedp.Action {
	m := emulation.SetEmulatedMedia()
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		m.Features = append(m.Features, &emulation.MediaFeature{Name: name, Value: value})
	}
	return m
}

// small are the main controls of a page, as the name and size of each, that a finger does not hit: all buttons,
// fields, tabs and entries of the menu but those that sort a column are 44 points high, and buttons as wide
// (facts/web.md, 5.16).
const small = `[...document.querySelectorAll('button:not(.head, .link), a.button, header nav a, .tabs a, .virtual a, select, label.check, input:not([type=checkbox], [type=radio])')].filter(e => e.checkVisibility()).map(e => [e, e.getBoundingClientRect()])
	.filter(([e, b]) => b.height < 43.9 || e.matches('button') && b.width < 43.9).map(([e, b]) => e.outerHTML.slice(0, 120) + ' is ' + Math.round(b.width) + 'x' + Math.round(b.height))`

// idle are the controls of a page that do nothing: nothing listens to them, they send no form and lead nowhere.
// Preact keeps what an element listens to in its member l.
const idle = `[...document.querySelectorAll('button, select, input, textarea, a')].filter(e => e.checkVisibility() && !Object.values(e.l ?? {}).some(Boolean)
	&& !(e.form?.l && Object.keys(e.form.l).some(k => /^submit/i.test(k)) && (e.name || e.type === 'submit')) && !(e.matches('a[href]') && !['', '#'].includes(e.getAttribute('href')))).map(e => e.outerHTML.slice(0, 120))`

// unmarked are states that only a background or a shadow shows, of which forced colours leave nothing: each is
// compared with a control of its kind that is not in the state, by what is left.
const unmarked = `(() => {
	const look = e => { const s = getComputedStyle(e); return [s.outlineStyle === 'none' ? '' : s.outline, s.borderTop, s.borderBottom, s.textDecorationLine].join('|') }, bad = [];
	const pairs = [['header nav a[aria-current]', 'header nav a:not([aria-current])'], ['.tabs a[aria-current]', '.tabs a:not([aria-current])'], ['button.plain[aria-pressed=true]', 'button.plain[aria-pressed=false]'],
		['.virtual a[aria-current]', '.virtual a:not([aria-current])'], ['button.plain:disabled', 'button.plain:enabled']];
	for (const [a, b] of pairs) { const x = document.querySelector(a), y = document.querySelector(b); if (x && y && look(x) === look(y)) bad.push(a + ' looks as ' + b) }
	const ports = ['linked', 'up', 'down', 'blocked', 'unknown'].flatMap(k => [...document.querySelectorAll('.keys .port.' + k)]).map(look);
	if (new Set(ports).size !== ports.length) bad.push('ports in two states look the same: ' + ports);
	for (const e of document.querySelectorAll('main button:enabled, main input, main select, .note, .card, main table')) if (e.checkVisibility() && !e.matches('.head, .link, [type=checkbox], [type=radio], table')) { const s = getComputedStyle(e); if (parseFloat(s.borderTopWidth) < 1) bad.push('no border: ' + e.outerHTML.slice(0, 80)) }
	return bad })()`

// mapForced is true when the map is drawn in the user's colours: an answering switch in that of text.
const mapForced = `(() => { const c = document.querySelector('canvas.map'), [x, y] = Object.values(c.ctl.places)[0], r = c.width / c.getBoundingClientRect().width, i = document.body.appendChild(document.createElement('i'));
	i.style.forcedColorAdjust = 'none'; i.style.color = 'CanvasText'; const text = getComputedStyle(i).color; i.remove();
	return 'rgb(' + [...c.getContext('2d').getImageData(x * r, y * r, 1, 1).data].slice(0, 3).join(', ') + ')' === text })()`

// focusSeen waits until a control that has the focus shows it by an outline of at least two points.
const focusSeen = `(() => { const e = document.querySelector('main button:enabled, main input, main a[href]'); if (!e) return true; e.focus({focusVisible: true}); const s = getComputedStyle(e); return s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2 })()`

// Every page is accessible by axe-core (WCAG 2.2 AA and its best practice): light, dark, forced colours, in a narrow
// window; all that is pressed is at least 24 points, or far enough from the next, and what is pressed with a finger
// 44; no control does nothing; the same holds for every dialog; in forced colours states, borders and the focus are seen; and nothing moves when a
// user does not want that.
func TestAccessibility(t *testing.T) {
	axe := axeSource(t)
	ctx, complaints := browser(t)
	_, c := switches(t, "ring:5", "ctl-switch-all ctl-bier-all")
	gittest.Zoo(t, filepath.Join(c.Home, "data", "repos", "zoo.git"))
	c.Ctl("feature:install --grant ctl-repoinfo")
	installRacks(t, c)

	check := func(name, rules string) {
		t.Helper()
		var wrong []struct {
			ID    string
			Nodes []struct{ HTML, FailureSummary string }
		}
		run(ctx, t, name, evaluate(`axe.run(document, {resultTypes: ['violations'], runOnly: `+rules+`}).then(r => r.violations.map(v => ({ID: v.id, Nodes: v.nodes.map(n => ({HTML: n.html, FailureSummary: n.failureSummary}))})))`, &wrong))
		for _, w := range wrong {
			for i, n := range w.Nodes {
				if i == 3 {
					t.Errorf("%s: %s: and %d more", name, w.ID, len(w.Nodes)-i)
					break
				}
				t.Errorf("%s: %s: %.300s: %s", name, w.ID, n.HTML, n.FailureSummary)
			}
		}
	}
	none := func(name, what, expression string) {
		t.Helper()
		var found []string
		run(ctx, t, name, chromedp.Evaluate(expression, &found))
		for i, f := range found {
			if i == 3 {
				t.Errorf("%s: and %d more %s", name, len(found)-i, what)
				break
			}
			t.Errorf("%s: %s: %s", name, what, f)
		}
	}
	const all = `{type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}`
	const colours = `{type: 'rule', values: ['color-contrast']}`
	install := evaluate(axe+`; void 0`, nil)
	run(ctx, t, "login", chromedp.Navigate(c.HTTP+"/login"), chromedp.WaitVisible(`.login`), install)
	check("login", all)
	none("login", "controls that do nothing", idle)
	run(ctx, t, "login-dark", media("prefers-color-scheme=dark"))
	check("login-dark", colours)
	run(ctx, t, "login-narrow", chromedp.EmulateViewport(390, 844))
	none("login-narrow", "controls too small for a finger", small)
	run(ctx, t, "login-wide", chromedp.EmulateViewport(1280, 900))
	run(ctx, t, "in", media("prefers-color-scheme=light", "prefers-reduced-motion=reduce"), logIn("admin", "admin"), install)
	for _, p := range everyPage {
		run(ctx, t, p.name, chromedp.EmulateViewport(1280, 900), media("prefers-color-scheme=light", "prefers-reduced-motion=reduce"), showPage(p.path), until(p.ready))
		check(p.name, all)
		none(p.name, "controls that do nothing", idle)
		run(ctx, t, p.name, media("prefers-color-scheme=dark", "prefers-reduced-motion=reduce"))
		check(p.name+", dark", colours)
		var moving int
		run(ctx, t, p.name, media("forced-colors=active", "prefers-reduced-motion=reduce"), chromedp.Evaluate(`document.getAnimations().filter(a => a.effect.getComputedTiming().duration > 0).length`, &moving))
		if moving > 0 {
			t.Errorf("%s: %d things move although the user wants none to", p.name, moving)
		}
		none(p.name+", forced colours", "states that are not seen", unmarked)
		run(ctx, t, p.name+", forced colours", until(focusSeen))
		check(p.name+", forced colours", colours)
		if p.name == "map" {
			run(ctx, t, "map, forced colours", until(mapForced))
		}
		run(ctx, t, p.name, chromedp.EmulateViewport(390, 844), media("prefers-color-scheme=light", "prefers-reduced-motion=reduce"))
		check(p.name+", narrow", all)
		none(p.name+", narrow", "controls too small for a finger", small)
		none(p.name+", narrow", "pages wider than the window", `[document.documentElement, document.querySelector('main')].filter(e => e.scrollWidth > innerWidth).map(e => e.tagName + ' is ' + e.scrollWidth + ' wide')`)
	}
	forDialogs(t, c)
	var titles []string
	dialogHas := func(name string) {
		t.Helper()
		var title string
		run(ctx, t, name, chromedp.Evaluate(`document.querySelector('dialog[open] h2').textContent`, &title))
		titles = append(titles, title)
		check(name, all)
		none(name, "controls that do nothing", idle)
		run(ctx, t, name, media("prefers-color-scheme=dark", "prefers-reduced-motion=reduce"))
		check(name+", dark", colours)
		run(ctx, t, name, chromedp.EmulateViewport(390, 844))
		none(name+", narrow", "controls too small for a finger", small)
		none(name+", narrow", "dialogs wider than the window", `[...document.querySelectorAll('dialog')].filter(d => d.scrollWidth > d.clientWidth || d.getBoundingClientRect().right > innerWidth).map(d => d.scrollWidth + ' of ' + d.clientWidth)`)
	}
	for _, d := range everyDialog {
		run(ctx, t, "dialog "+d.name, chromedp.EmulateViewport(1280, 900), media("prefers-color-scheme=light", "prefers-reduced-motion=reduce"), d.opened())
		dialogHas("dialog " + d.name)
		run(ctx, t, "dialog "+d.name, closed)
	}
	run(ctx, t, "dialog of an ended session", chromedp.EmulateViewport(1280, 900), media("prefers-color-scheme=light", "prefers-reduced-motion=reduce"), showPage("#/system/log"), until(`document.querySelectorAll("main tbody tr").length > 1`),
		evaluate(`fetch('/web/logout', {method: 'POST', headers: {'X-Requested-With': 'ctl'}}).then(r => r.status)`, nil), pushed("Read again"), until(`document.querySelector('dialog[open] .login')`))
	dialogHas("dialog of an ended session")
	for _, title := range unopened(t, titles) {
		t.Errorf("no test opens the dialog of %s", title)
	}
	for _, s := range complaints() {
		noReviewServer := strings.Contains(s, "status of 503") && strings.HasSuffix(s, "/repoinfo/review/projects")
		if !strings.Contains(s, "status of 40") && !noReviewServer {
			t.Errorf("the browser complains: %s", s)
		}
	}
}
