//go:build peers

package webpeers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"ctl.internal/test/harness"
)

// installRacks installs the plugin of examples/racks, which has a module and handlers, with a rack r1.
func installRacks(t *testing.T, c *harness.Controller) {
	t.Helper()
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
}

// A plugin that has nothing but a module and handlers has a page: tables of its tree, forms of its RPCs, with what the types say.
func TestAPageMadeOfAModule(t *testing.T) {
	ctx, complaints := browser(t)
	c := harness.Start(t, bin, nil)
	installRacks(t, c)
	const button = `[...document.querySelectorAll('.card button')].find(b => b.textContent === 'add').click() ?? true`
	run(ctx, t, "plugin-login", chromedp.Navigate(c.HTTP+"/#/plugin"), logIn("admin", "admin"), press("racks"), cell("r1"), shows("Puts a machine into a rack."))
	run(ctx, t, "plugin-form", fill("rack", "r1"), fill("machine", "m1"), until(button), shows("add: done."), cell("m1"))
	run(ctx, t, "plugin-fault", fill("machine", "m2"), until(button), shows("rack r1 has room for 1 machines only"))
	noComplaints(t, complaints())
}

// fakePlugin answers the page in place of the controller, for a plugin with two trees, one of which is refused, and operations of
// the same name in two modules, which count how often they are called. fakePlugin.event sends an event; timers of 30 seconds
// wait for fakePlugin.end.
const fakePlugin = `(() => {
	const fake = window.fakePlugin = {trees: 0, calls: 0, sent: [], later: [], at: 0}, realFetch = fetch.bind(window), realTimeout = setTimeout.bind(window);
	const table = (title, tree) => ({title, tree, path: ['top', 'one'], columns: [{key: 'name', title: 'Name'}]});
	const shown = module => ({module, name: 'show', title: 'Shown by ' + module, readOnly: true, fields: [], values: [{key: 'n', title: 'Calls'}], tables: []});
	const page = {plugin: 'fake', streams: ['config-change'], tables: [table('Open', 'fake:open'), table('Closed', 'fake:closed')], operations: [shown('a'), shown('b'),
		{module: 'a', name: 'wipe', title: 'Wipe', confirm: 'Wipe it?', fields: [{name: 'what', title: 'What', type: 'text'}], values: [], tables: []}]};
	const answer = (status, body) => Promise.resolve(new Response(JSON.stringify(body), {status}));
	window.fetch = (path, o) => {
		if (path === '/web/schema') return answer(200, [page]);
		if (path === '/restconf/streams') return answer(200, {streams: {stream: [{name: 'config-change'}]}});
		if (path === '/rests/data/fake:open') return answer(200, {top: {one: [{name: 'read ' + ++fake.trees}]}});
		if (path === '/rests/data/fake:closed') return answer(403, {errors: {error: [{'error-message': 'for others'}]}});
		if (path.endsWith(':show')) return answer(200, {output: {n: 'call ' + ++fake.calls}});
		if (path === '/rests/operations/a:wipe') { fake.sent.push(JSON.parse(o.body)['a:input'].what); return answer(200, {}) }
		return realFetch(path, o);
	};
	window.setTimeout = (f, ms, ...a) => ms === 30000 ? -fake.later.push(f) : realTimeout(f, ms, ...a);
	window.EventSource = class extends EventTarget { constructor() { super(); fake.source = this } close() {} };
	fake.event = () => fake.source.dispatchEvent(new MessageEvent('config-change', {lastEventId: String(++fake.at), data: '{"ietf-restconf:notification":{"eventTime":"2026-01-01T00:00:00Z","a:b":{}}}'}));
	fake.end = () => { const all = fake.later; fake.later = []; all.forEach(f => f()) };
})()`

// A tree that the user may not read leaves the others; operations that show something are called at the first event, and not for
// each that follows soon; what is asked about cannot be changed before the answer.
func TestAPluginPageIsReadInParts(t *testing.T) {
	ctx, _ := browser(t) // complains about nothing: what is refused is a fake
	c := harness.Start(t, bin, nil)
	event := func(trees int) chromedp.Tasks {
		return chromedp.Tasks{chromedp.Evaluate(`fakePlugin.event(), 0`, nil), shows(fmt.Sprint("read ", trees))}
	}
	calls := func(n int) {
		t.Helper()
		var got int
		run(ctx, t, "calls", chromedp.Evaluate(`fakePlugin.calls`, &got))
		if got != n {
			t.Errorf("%d calls of operations, want %d", got, n)
		}
	}
	run(ctx, t, "parts", chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(fakePlugin).Do(ctx)
		return err
	}), chromedp.Navigate(c.HTTP+"/#/plugin/fake"), logIn("admin", "admin"), shows("read 1"), shows("You may not read this: for others"),
		shows("Shown by a"), shows("Shown by b"), shows("call 1"), shows("call 2"), until(`fakePlugin.source`))
	calls(2)
	run(ctx, t, "event", event(2), shows("call 3"), shows("call 4"), until(`fakePlugin.later.length > 0`))
	run(ctx, t, "events", event(3), event(4))
	calls(4)
	run(ctx, t, "later", chromedp.Evaluate(`fakePlugin.end(), 0`, nil), shows("call 5"), shows("call 6"))
	calls(6)

	run(ctx, t, "question", fill("What", "old"), pushed("Wipe"), shows("Wipe it?"), until(`document.querySelector('form[inert] input').value === 'old'`),
		pushed("No"), until(`!document.querySelector('form[inert]')`), pushed("Wipe"), shows("Wipe it?"), pushed("Yes"), shows("Wipe: done."),
		until(`!document.querySelector('form[inert]') && fakePlugin.sent.join() === 'old'`), shows("read 5"))
}
