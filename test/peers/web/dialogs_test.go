//go:build peers

package webpeers

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"ctl.internal/test/harness"
)

// dialog is one that a page opens: the buttons that lead to it, the first of which is there when the dialog can be had.
type dialog struct {
	name, path string
	first      string
	then       []chromedp.Action
}

// everyDialog is how each dialog of the console is opened; that of an ended session is opened by ending it.
var everyDialog = []dialog{
	{name: "keys", path: "#/account", then: []chromedp.Action{chromedp.Evaluate(`document.body.dispatchEvent(new KeyboardEvent('keydown', {key: '?', bubbles: true}))`, nil)}},
	{name: "vlan-add", path: "#/devices/switch%3A1/2199023255553", first: "Add VLAN…"},
	{name: "vlan-check", path: "#/devices/switch%3A1/2199023255553", first: "Add VLAN…", then: []chromedp.Action{fill("VLAN", "9"), fill("Name", "lab"), fill("Tagged ports", "1-2"), pushed("Preview"), shows("What will be sent")}},
	{name: "vlan-ports", path: "#/devices/switch%3A1/2199023255553/vlans", first: "Ports…"},
	{name: "vlan-delete", path: "#/devices/switch%3A1/2199023255553/vlans", first: "Delete…"},
	{name: "vlan-bulk", path: "#/devices", then: []chromedp.Action{until(`document.querySelector('[aria-label="Select all"]:enabled')?.click() ?? document.querySelector('[aria-label="Select all"]:checked')`), pushed("VLAN on")}},
	{name: "acl-clear", path: "#/devices/switch%3A1/2199023255553/acl", first: "Clear all…"},
	{name: "bier-channel", path: "#/bier/switch%3A1/channels", first: "New channel…"},
	{name: "bier-deploy", path: "#/bier/switch%3A1/channels", first: "Deploy…"},
	{name: "bier-remove", path: "#/bier/switch%3A1/channels", first: "Remove…"},
	{name: "bier-domain-delete", path: "#/bier/switch%3A1/domains", first: "Delete…"},
	{name: "bier-prepare", path: "#/bier/switch%3A1/nodes", first: "Set up routers…"},
	{name: "bier-mount", path: "#/bier/switch%3A1/routers", first: "Mount a router…"},
	{name: "bier-unmount", path: "#/bier/switch%3A1/routers", first: "Unmount…"},
	{name: "plugin", path: "#/system/plugins", first: "switch"},
	{name: "plugin-restart", path: "#/system/plugins", first: "Restart…"},
	{name: "plugin-stop", path: "#/system/plugins", first: "Stop…"},
	{name: "feature-install", path: "#/system/features", first: "Install…"},
	{name: "feature-uninstall", path: "#/system/features?q=switch-driver-ovs", first: "Uninstall…"},
	{name: "trouble", path: "#/now", first: "Acknowledge…"},
	{name: "user-new", path: "#/access/users", first: "New user…"},
	{name: "user-change", path: "#/access/users", first: "Change…"},
	{name: "user-delete", path: "#/access/users", first: "Delete…"},
	{name: "role-new", path: "#/access/roles", first: "New role…"},
	{name: "role-delete", path: "#/access/roles", first: "Delete…"},
	{name: "domain-new", path: "#/access/domains", first: "New domain…"},
	{name: "domain-delete", path: "#/access/domains", first: "Delete…"},
	{name: "grant-revoke", path: "#/access/grants", first: "Revoke…"},
	{name: "policy-new", path: "#/access/policies", first: "New policy…"},
	{name: "policy-change", path: "#/access/policies", first: "Change…"},
	{name: "policy-delete", path: "#/access/policies", first: "Delete…"},
}

// opened are the steps that open a dialog on the page that is shown, and wait until all of it is there.
func (d dialog) opened() chromedp.Tasks {
	out := chromedp.Tasks{showPage(d.path)}
	if d.first != "" {
		out = append(out, pushed(d.first))
	}
	out = append(out, d.then...)
	return append(out, until(`document.querySelector('dialog[open]') && !document.querySelector('dialog .skeleton')`))
}

// pushed presses the button whose name begins so, in the dialog that is open or in the page, as soon as it is there.
func pushed(name string) chromedp.Action {
	return until(fmt.Sprintf(`(() => { const b = [...(document.querySelector('dialog[open]') ?? document.querySelector('main')).querySelectorAll('button:enabled')].find(b => b.textContent.trim().startsWith(%q)); b?.click(); return b })()`, name))
}

// closed closes the dialog that is open.
var closed = chromedp.Tasks{chromedp.Evaluate(`document.querySelector('dialog').close()`, nil), until(`!document.querySelector('dialog')`)}

// forDialogs makes what the dialogs are about: a VLAN, a BIER domain with a router and a channel, a domain of users, a policy.
func forDialogs(t *testing.T, c *harness.Controller) {
	t.Helper()
	for _, call := range []struct{ path, body string }{
		{"vlan:add-vlan", `{"input":{"node-id":2199023255553,"vlan-id":77,"vlan-name":"lab"}}`},
		{"bier-topology-api:configure-domain", `{"input":{"topology-id":"switch:1","domain":[1]}}`},
		{"bier-topology-api:configure-node", `{"input":{"topology-id":"switch:1","node-id":"2199023255553","domain":[{"domain-id":1,"bier-global":{"encapsulation-type":"bier-encapsulation-mpls","bitstringlength":"64-bit","bfr-id":1,"ipv4-bfr-prefix":"10.0.0.1/32",
			"sub-domain":[{"sub-domain-id":0,"igp-type":"ISIS","bfr-id":1,"bitstringlength":"64-bit","af":{"ipv4":[{"bitstringlength":64,"bier-mpls-label-base":100,"bier-mpls-label-range-size":1}]}}]}}]}}`},
		{"bier-channel-api:add-channel", `{"input":{"topology-id":"switch:1","name":"news","src-ip":"10.9.0.1","dst-group":"232.1.1.1","domain-id":1,"sub-domain-id":0,"source-wildcard":32,"group-wildcard":32}}`},
		{"bier-service-api:mount-router", `{"input":{"node-id":"2199023255553","host":"127.0.0.1","port":9,"username":"lab","password":"lab"}}`},
	} {
		if a := c.Do("POST", "/restconf/operations/"+call.path, "admin:admin", call.body); a.Status != 200 || strings.Contains(a.Body, "FAILURE") {
			t.Fatalf("%s: %d %s", call.path, a.Status, a.Body)
		}
	}
	c.Ctl("feature:install --grant switch-driver-ovs")
	c.Ctl("plugin:stop switch-driver-ovs")                                                       // so that something is wrong
	if a := c.Do("POST", "/auth/v1/domains", "admin:admin", `{"name":"lab"}`); a.Status != 201 { // sdn has no Delete…
		t.Fatalf("domain: %d %s", a.Status, a.Body)
	}
	if a := c.Do("PUT", "/rests/data/aaa:http-authorization/policies", "admin:admin", `{"aaa:policies":{"policies":[{"resource":"/restconf/nothing/**","index":1,"permissions":[{"role":"admin","actions":["get"]}]}]}}`); a.Status/100 != 2 {
		t.Fatalf("policies: %d %s", a.Status, a.Body)
	}
}

// unopened are the dialogs of the sources that have none of the titles, by their own.
func unopened(t *testing.T, titles []string) (missing []string) {
	t.Helper()
	seen, found := strings.Join(titles, "\n"), 0
	for _, pattern := range []string{"*.tsx", "pages/*/*.tsx", "switches/*.tsx"} {
		files, err := filepath.Glob(filepath.Join(root, "host/web/src", pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %d files", pattern, err, len(files))
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile("<(?:Dialog|Confirm)\\s+title=(\"[^\"]+\"|\\{.*?\\})(?:\\s+onClose|\\s+verb|>)").FindAllStringSubmatch(string(text), -1) {
				found++
				title, known := m[1], false
				for _, part := range regexp.MustCompile("[`'\"{}?:$]").Split(title, -1) {
					known = known || len(strings.TrimSpace(part)) > 2 && strings.Contains(seen, strings.TrimSpace(part))
				}
				if !known {
					missing = append(missing, filepath.Base(f)+": "+title)
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d dialogs were found in the sources", found)
	}
	return missing
}
