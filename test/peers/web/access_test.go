//go:build peers

package webpeers

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"ctl.internal/test/harness"
)

// An administrator makes a user with a role, ends its session, writes policies and their order, reads why it may not
// do something, and saves a snapshot.
func TestAccess(t *testing.T) {
	ctx, complaints := browser(t)
	c := harness.Start(t, bin, nil)
	run(ctx, t, "login", chromedp.Navigate(c.HTTP+"/#/access"), logIn("admin", "admin"), cell("admin@sdn"))
	run(ctx, t, "user", press("New user…"), fill("Name", "eve"), fill("Password", "the word of eve 1"), chromedp.Click(`//dialog//label[normalize-space(.)="user"]/input`, chromedp.BySearch),
		press("Save"), shows("Saved."), closed, cell("eve@sdn"), press("Grants"), until(`[...document.querySelectorAll('tbody tr')].some(r => r.textContent.startsWith('eve@sdnusersdn'))`))

	if a := c.Do("POST", "/web/login", "", `{"user":"eve","password":"the word of eve 1"}`); a.Status != 204 {
		t.Fatalf("eve does not log in: %d %s", a.Status, a.Body)
	}
	run(ctx, t, "session", press("Tokens and sessions"), cell("eve@sdn"), cell("this session"), chromedp.Click(`[aria-label^="End the session of eve@sdn"]`), shows("The session of eve@sdn has ended."),
		until(`![...document.querySelectorAll('td')].some(d => d.textContent === 'eve@sdn')`))

	const order = `[...document.querySelectorAll('.policies > li > b')].map(b => b.textContent).join(' ')`
	run(ctx, t, "policies", press("Policies"), press("New policy…"), fill("Resource", "/restconf/a/**"), press("Save"), shows("/restconf/a/** is saved."), until(order+` === '/restconf/a/**'`),
		press("New policy…"), fill("Resource", "/restconf/b/**"), press("Save"), until(order+` === '/restconf/a/** /restconf/b/**'`),
		chromedp.Click(`[aria-label="Move /restconf/b/** up"]`), until(order+` === '/restconf/b/** /restconf/a/**'`), chromedp.Reload(), until(order+` === '/restconf/b/** /restconf/a/**'`),
		press("Delete…"), press("Delete"), until(order+` === '/restconf/a/**'`), press("Delete…"), press("Delete"), shows("There is no policy"))
	run(ctx, t, "why", press("Explain access"), fill("User", "eve"), fill("Path", "/auth/v1/users"), press("Explain"), chromedp.WaitVisible(`[data-state=explained] .mark.bad`), shows("roles[admin]"),
		fill("User", "admin"), press("Explain"), chromedp.WaitVisible(`[data-state=explained] .mark.good`))

	run(ctx, t, "snapshot", showPage("#/system/snapshots"), chromedp.WaitVisible(`[data-state=empty]`), press("Save now"), shows("is written"), until(`document.querySelectorAll('tbody tr').length === 1`),
		until(`document.querySelector('main pre').textContent.endsWith(document.querySelector('td code').textContent)`))
	var kept []fs.FileInfo
	entries, err := os.ReadDir(filepath.Join(c.Home, "backups"))
	for _, e := range entries {
		if info, ierr := e.Info(); ierr == nil {
			kept = append(kept, info)
		}
	}
	if err != nil || len(kept) != 1 || kept[0].Mode() != 0o600 || kept[0].Size() == 0 || !strings.HasSuffix(kept[0].Name(), ".tar") {
		t.Errorf("the home has the snapshots %v (%v)", kept, err)
	}
	noComplaints(t, complaints())
}
