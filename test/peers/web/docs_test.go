//go:build peers

package webpeers

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
	if said := complaints()[before:]; slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, "/docs/") }) {
		t.Errorf("the browser complains: %v", said)
	}
}
