//go:build peers

package webpeers

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"ctl.internal/test/harness"
)

// The documentation is found by searching, from a controller that reaches nothing else.
func TestDocumentationIsSearched(t *testing.T) {
	ctx, complaints := browser(t)
	within, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(within, "go", "run", "./internal/docsite", "site", bin, filepath.Join(bin, "docs"))
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	c := harness.Start(t, bin, nil)
	run(ctx, t, "login", chromedp.Navigate(c.HTTP+"/"), logIn("admin", "admin"))
	before := len(complaints())
	run(ctx, t, "docs", chromedp.Navigate(c.HTTP+"/docs/"), chromedp.WaitVisible(`//h2[contains(., "I want to")]`, chromedp.BySearch),
		chromedp.SendKeys(`#search`, "limits.body"), chromedp.WaitVisible(`//ol[@id="hits"]//a[contains(., "Settings")]`, chromedp.BySearch),
		chromedp.Click(`//ol[@id="hits"]//a[contains(., "Settings")]`, chromedp.BySearch), chromedp.WaitVisible(`//h1[contains(., "Settings")]`, chromedp.BySearch),
		chromedp.Navigate(c.HTTP+"/docs/console.html"), chromedp.WaitVisible(`img[src="pictures/console.svg"]`))
	// What somebody wants to do comes before what mentions it.
	var first string
	run(ctx, t, "a task", chromedp.SendKeys(`#search`, "back restore"), chromedp.WaitVisible(`#hits li`),
		chromedp.Text(`#hits li:first-child a`, &first))
	if first != "I want to back it up, restore it" {
		t.Errorf("the first hit is %q", first)
	}
	checkDocsOnPhone(ctx, t, c.HTTP)
	checkDocsWithoutStorage(ctx, t, c.HTTP)
	if said := complaints()[before:]; slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, "/docs/") }) {
		t.Errorf("the browser complains: %v", said)
	}
}

// On a phone the text comes before the list of pages, and nothing is wider than the screen; the theme that was chosen
// stays.
func checkDocsOnPhone(ctx context.Context, t *testing.T, address string) {
	t.Helper()
	var textFirst, fits bool
	var theme string
	run(ctx, t, "docs on a phone", chromedp.EmulateViewport(390, 844), chromedp.Navigate(address+"/docs/console.html"),
		chromedp.WaitVisible(`main h1`),
		chromedp.Evaluate(`document.querySelector('main').getBoundingClientRect().top < document.querySelector('nav').getBoundingClientRect().top`, &textFirst),
		chromedp.Evaluate(`document.documentElement.scrollWidth <= innerWidth`, &fits),
		chromedp.Click(`#theme`), chromedp.Click(`#theme`), chromedp.Reload(), chromedp.WaitVisible(`main h1`),
		chromedp.Evaluate(`document.documentElement.style.colorScheme`, &theme),
		chromedp.Evaluate(`localStorage.removeItem('docs-theme')`, nil))
	if !textFirst || !fits || theme != "dark" {
		t.Errorf("text first: %v, fits: %v, theme %q", textFirst, fits, theme)
	}
}

// In a browser that lets pages store nothing, search and theme work; the theme is that of the page.
func checkDocsWithoutStorage(ctx context.Context, t *testing.T, address string) {
	t.Helper()
	const none = `Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('denied', 'SecurityError') }})`
	var stored bool
	var theme string
	run(ctx, t, "docs without storage", chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(none).Do(ctx)
		return err
	}), chromedp.EmulateViewport(1280, 900), chromedp.Navigate(address+"/docs/console.html"), chromedp.WaitVisible(`main h1`),
		chromedp.Evaluate(`(() => { try { localStorage.getItem('a'); return true } catch { return false } })()`, &stored),
		chromedp.SendKeys(`#search`, "limits.body"), chromedp.WaitVisible(`#hits li`),
		chromedp.Click(`#theme`), chromedp.Click(`#theme`), until(`document.getElementById('theme').textContent === 'Theme: dark'`),
		chromedp.Evaluate(`document.documentElement.style.colorScheme`, &theme))
	if stored || theme != "dark" {
		t.Errorf("the page can store: %v, theme %q", stored, theme)
	}
}
