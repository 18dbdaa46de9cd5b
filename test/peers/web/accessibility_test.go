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

// Every page is accessible by axe-core (WCAG 2.2 AA and its best practice): light, dark, forced colours, in a narrow
// window; all that is pressed is at least 24 points, or far enough from the next; and nothing moves when a user does not want that.
func TestAccessibility(t *testing.T) {
	axe := axeSource(t)
	ctx, complaints := browser(t)
	_, c := switches(t, "ring:5", "ctl-switch-all ctl-bier-all")

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
	const all = `{type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}`
	const colours = `{type: 'rule', values: ['color-contrast']}`
	install := evaluate(axe+`; void 0`, nil)
	run(ctx, t, "login", chromedp.Navigate(c.HTTP+"/login"), chromedp.WaitVisible(`.login`), install)
	check("login", all)
	run(ctx, t, "login-dark", media("prefers-color-scheme=dark"))
	check("login-dark", colours)
	run(ctx, t, "in", media("prefers-color-scheme=light", "prefers-reduced-motion=reduce"), logIn("admin", "admin"), install)
	for _, p := range everyPage {
		run(ctx, t, p.name, chromedp.EmulateViewport(1280, 900), media("prefers-color-scheme=light", "prefers-reduced-motion=reduce"), showPage(p.path), until(p.ready))
		check(p.name, all)
		run(ctx, t, p.name, media("prefers-color-scheme=dark", "prefers-reduced-motion=reduce"))
		check(p.name+", dark", colours)
		var moving int
		run(ctx, t, p.name, media("forced-colors=active", "prefers-reduced-motion=reduce"), chromedp.Evaluate(`document.getAnimations().filter(a => a.effect.getComputedTiming().duration > 0).length`, &moving))
		if moving > 0 {
			t.Errorf("%s: %d things move although the user wants none to", p.name, moving)
		}
		run(ctx, t, p.name, chromedp.EmulateViewport(390, 844), media("prefers-color-scheme=light", "prefers-reduced-motion=reduce"))
		check(p.name+", narrow", all)
	}
	for _, s := range complaints() {
		if !strings.Contains(s, "status of 40") {
			t.Errorf("the browser complains: %s", s)
		}
	}
}
