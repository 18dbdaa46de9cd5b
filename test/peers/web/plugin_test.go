//go:build peers

package webpeers

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"ctl.internal/test/harness"
)

// A plugin that has nothing but a module and handlers has a page: tables of its tree, forms of its RPCs, with what the types say.
func TestAPageMadeOfAModule(t *testing.T) {
	ctx, complaints := browser(t)
	c := harness.Start(t, bin, nil)
	repo := filepath.Join(filepath.Dir(c.Home), "racks.yaml")
	const feature = "name: test\nfeatures:\n- name: racks\n  version: 1.0.0\n  description: for a test\n  depends: [ctl-restconf]\n" +
		"  plugins: [{name: racks}]\n  facets: [{facet: rest, plugin: racks}, {facet: ui, plugin: racks}]\n"
	if err := os.WriteFile(repo, []byte(feature), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Ctl("feature:repo-add --unsigned " + repo)
	c.Ctl("feature:install --grant racks")
	if a := c.Do("PUT", "/rests/data/racks:racks/rack=r1", "admin:admin", `{"racks:rack":[{"name":"r1","room":1}]}`); a.Status != 201 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	const button = `[...document.querySelectorAll('.card button')].find(b => b.textContent === 'add').click() ?? true`
	run(ctx, t, "plugin-login", chromedp.Navigate(c.HTTP+"/#/plugin"), logIn("admin", "admin"), press("racks"), cell("r1"), shows("Puts a machine into a rack."))
	run(ctx, t, "plugin-form", fill("rack", "r1"), fill("machine", "m1"), until(button), shows("add: done."), cell("m1"))
	run(ctx, t, "plugin-fault", fill("machine", "m2"), until(button), shows("rack r1 has room for 1 machines only"))
	noComplaints(t, complaints())
}
