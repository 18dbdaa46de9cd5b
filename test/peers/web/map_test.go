//go:build peers

package webpeers

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/tracing"
	"github.com/chromedp/chromedp"

	"ctl.internal/test/harness"
)

const (
	ctl   = `document.querySelector('canvas.map').ctl`
	drawn = `document.querySelector('canvas.map').dataset.state === 'drawn'`
)

// instead has the page answered with a topology, made from the turn of a clock of its own, and counts what it does: workers that
// it starts and ends, calls of the canvas. What happens is what the test says: happen(n) lets three seconds go by n times,
// with three events in each.
const instead = `(() => {
	const own = fetch, now = Date.now, later = setTimeout; let turn = 0, source;
	window.asked = 0; window.calls = {}; window.started = []; window.ended = 0;
	window.topology = ${TOPOLOGY};
	window.fetch = async (path, o) => {
		const json = v => new Response(JSON.stringify(v), {headers: {'Content-Type': 'application/json'}});
		if (path === '/restconf/streams') return json({streams: {stream: [{name: 'switch-topology'}]}});
		if (path !== '/restconf/operational/network-topology:network-topology') return own(path, o);
		asked++;
		return json(topology(turn));
	};
	window.EventSource = class extends EventTarget { constructor() { super(); source = this } close() {} };
	Date.now = () => now() + turn * 3000;
	window.setTimeout = (f, ms, ...rest) => later(f, ms === 250 ? 0 : ms, ...rest); // in which the page gathers events
	const breath = () => new Promise(done => { const c = new MessageChannel(); c.port1.onmessage = () => { c.port1.close(); done() }; c.port2.postMessage(0) });
	window.happen = async n => { for (; n > 0; n--) {
		turn++;
		for (let k = 0; k < 3; k++) source.dispatchEvent(new MessageEvent('switch-topology', {lastEventId: turn + '-' + k, data: JSON.stringify({'ietf-restconf:notification': {eventTime: new Date(Date.now()).toISOString(), 'x:removed-link': {turn, k}}})}));
		for (const before = asked; asked === before;) await breath();
	} };
	for (const k of ['stroke', 'fill', 'strokeText', 'measureText', 'arc', 'clearRect']) { const f = CanvasRenderingContext2D.prototype[k]; CanvasRenderingContext2D.prototype[k] = function (...a) { calls[k] = (calls[k] ?? 0) + 1; return f.apply(this, a) } }
	const Real = Worker, mode = sessionStorage.getItem('worker');
	window.Worker = class extends (mode ? EventTarget : Real) {
		constructor(address, o) { super(address, o); started.push(String(address)) }
		terminate() { ended++; if (!mode) super.terminate() }
		postMessage(m) { if (!mode) super.postMessage(m); else if (mode === 'broken') this.onerror() }
	};
	window.pan = async n => {
		await new Promise(done => requestAnimationFrame(done)); // names are where the last frame wrote them
		const c = document.querySelector('canvas.map'), b = c.getBoundingClientRect(), nodes = Object.values(c.ctl.places), names = c.ctl.names;
		const named = (x, y) => names.some(n => Math.abs(x - n.x - n.w / 2) <= Math.max(12, n.w / 2) && Math.abs(y - n.y - n.h / 2) <= 12);
		let from = [], most = -1; // the place that is farthest from all nodes and on no name, for a press on either moves a node and not the map
		for (let x = 20; x < b.width; x += 20) for (let y = 20; y < b.height / 2; y += 20) { const d = Math.min(...nodes.map(n => (n[0] - x) ** 2 + (n[1] - y) ** 2)); if (d > most && !named(x, y)) { most = d; from = [x, y] } }
		const at = (type, i) => c.dispatchEvent(new PointerEvent(type, {pointerId: 1, clientX: b.left + from[0] + 40 * Math.sin(i / 9), clientY: b.top + from[1] + 20 * Math.sin(i / 7), bubbles: true}));
		c.setPointerCapture = () => {};
		at('pointerdown', 0);
		for (let i = 1; i <= n; i++) { const before = calls.clearRect; at('pointermove', i); while (calls.clearRect === before) await breath() }
		at('pointerup', n);
	};
})()`

// fixed is a topology that stays as it is. ringOf is a ring of which each turn another link is away and other nodes do not
// answer, and each 16 turns one node is exchanged for another.
func fixed(document []byte) string { return `() => (` + string(document) + `)` }

func ringOf(nodes int) string {
	return fmt.Sprintf(`turn => {
		const n = %d, id = i => i === 7 ? 'n7-' + (turn >> 4) : 'n' + i, node = Array.from({length: n}, (_, i) => ({'node-id': id(i), 'ctl-topology:name': 'sw' + id(i), 'ctl-topology:answering': (i + turn) %% 50 !== 0}));
		const link = node.flatMap((_, i) => i === turn %% n ? [] : [[i, (i + 1) %% n], [(i + 1) %% n, i]]).map(([a, b]) => ({'link-id': a + '-' + b, source: {'source-node': id(a), 'source-tp': id(a) + ':' + b}, destination: {'dest-node': id(b), 'dest-tp': id(b) + ':' + a}}));
		return {'network-topology': {topology: [{'topology-id': 'lab', node, link}]}};
	}`, nodes)
}

// answered opens a page of the console that is answered with this topology; mode is what becomes of its workers: real when
// empty, silent, or broken.
func answered(ctx context.Context, t *testing.T, c *harness.Controller, topology, mode, hash string) {
	t.Helper()
	var id page.ScriptIdentifier
	run(ctx, t, "open", chromedp.Evaluate(fmt.Sprintf(`sessionStorage.setItem('worker', %q)`, mode), nil), chromedp.ActionFunc(func(ctx context.Context) (err error) {
		id, err = page.AddScriptToEvaluateOnNewDocument(strings.Replace(instead, "${TOPOLOGY}", topology, 1)).Do(ctx)
		return err
	}), chromedp.Navigate(c.HTTP+"/"+hash), chromedp.Reload(), chromedp.WaitVisible(`header nav`),
		chromedp.ActionFunc(func(ctx context.Context) error { return page.RemoveScriptToEvaluateOnNewDocument(id).Do(ctx) }))
}

// used is what the page's heap holds after its garbage was collected.
func used(ctx context.Context, t *testing.T) (bytes float64) {
	t.Helper()
	run(ctx, t, "heap", heapprofiler.CollectGarbage(), heapprofiler.CollectGarbage(), chromedp.ActionFunc(func(ctx context.Context) (err error) {
		bytes, _, _, _, err = runtime.GetHeapUsage().Do(ctx)
		return err
	}))
	return bytes
}

// frames logs the time of the processor that the page's script takes for a frame while an expression moves the map, when FRAMES is set:
//
//	FRAMES=1 go test -v -tags peers -run TestLargeMap ./test/peers/web
func frames(ctx context.Context, t *testing.T, name, expression string) {
	t.Helper()
	if os.Getenv("FRAMES") == "" {
		return
	}
	var took []float64
	done := make(chan struct{})
	listening, stop := context.WithCancel(ctx)
	defer stop()
	chromedp.ListenTarget(listening, func(e any) {
		switch e := e.(type) {
		case *tracing.EventDataCollected:
			for _, v := range e.Value {
				var one struct {
					Name string
					Tdur float64
				}
				if json.Unmarshal(v, &one) == nil && one.Name == "FireAnimationFrame" {
					took = append(took, one.Tdur/1000)
				}
			}
		case *tracing.EventTracingComplete:
			close(done)
		}
	})
	run(ctx, t, name, tracing.Start().WithTransferMode(tracing.TransferModeReportEvents).WithTraceConfig(&tracing.TraceConfig{IncludedCategories: []string{"devtools.timeline"}}),
		evaluate(expression, nil), tracing.End())
	select {
	case <-done:
	case <-ctx.Done():
		t.Fatal("the trace does not end")
	}
	slices.Sort(took)
	if n := len(took); n > 0 {
		t.Logf("%s: %d frames, script of a frame %.2f ms (median), %.2f ms (95 of 100)", name, n, took[n/2], took[n*95/100])
	}
}

// A map of 1,000 nodes: a worker lays it out as the page would, and ends with its page; its leaves are folded, found and unfolded by
// mouse, key, zoom and button, and all are in the table; a frame is a few strokes, of what is in the view.
func TestLargeMap(t *testing.T) {
	ctx, complaints := browser(t)
	c := harness.Start(t, bin, nil)
	many, rings := ringsOfRings()
	network := fixed([]byte(strings.Replace(string(document(many, rings)), `"ctl-topology:answering":true,"ctl-topology:name":"sw1000"`, `"ctl-topology:answering":false,"ctl-topology:name":"sw1000"`, 1)))
	const count, parent = `Object.keys(` + ctl + `.places).length`, "n957" // which six leaves hang on, up to sw1000, which is silent
	nodes := func(n int) chromedp.Action { return until(fmt.Sprintf(count+` === %d`, n)) }
	key := func(k string) chromedp.Action {
		return chromedp.Evaluate(fmt.Sprintf(`document.querySelector('canvas.map').dispatchEvent(new KeyboardEvent('keydown', {key: %q, bubbles: true}))`, k), nil)
	}
	run(ctx, t, "login", chromedp.EmulateViewport(1280, 900), chromedp.Navigate(c.HTTP+"/"), logIn("admin", "admin"))

	var started, broken []string
	var places, inline string
	var folded, names int
	answered(ctx, t, c, network, "", "#/map")
	run(ctx, t, "large", until(drawn), nodes(160), shows("1000 nodes, 1020 links"), shows("840 folded"), until(`ended === 1`), chromedp.Evaluate(`started`, &started), chromedp.Evaluate(`JSON.stringify(`+ctl+`.at)`, &places),
		chromedp.Evaluate(`Object.values(`+ctl+`.folded).reduce((a, b) => a + b)`, &folded), chromedp.Evaluate(ctl+`.names.length`, &names))
	if !slices.Equal(started, []string{"/web/static/layout.js"}) || folded != 840 || names < 60 {
		t.Errorf("the workers %v laid out the map; %d nodes are folded, %d names are written", started, folded, names)
	}
	for range 10 { // one that zooms in sees all, one that goes back does not
		run(ctx, t, "zoom", key("+"))
	}
	run(ctx, t, "near", nodes(1000), key("f"), nodes(160), press("The same as a table"), until(`document.querySelector('.twin table').getAttribute('aria-rowcount') === '1000'`), press("Unfold all"), nodes(1000), until(`!`+ctl+`.small`))

	// A frame: one stroke or fill for all that looks the same, no width of a text measured again, nothing outside of the view.
	var calls map[string]int
	run(ctx, t, "frame", evaluate(`pan(10).then(() => { calls = {clearRect: 0}; return pan(10) })`, nil), chromedp.Evaluate(`calls`, &calls))
	if n := calls["clearRect"]; n < 10 || calls["stroke"]+calls["fill"] > 10*n || calls["measureText"] > 0 || calls["strokeText"] > 250*n {
		t.Errorf("of the map as a whole %d frames take %v calls", n, calls)
	}
	frames(ctx, t, "1,000 nodes, all in the view, moved", `pan(200)`)
	frames(ctx, t, "1,000 nodes, zoomed", `(async () => { const c = document.querySelector('canvas.map'), b = c.getBoundingClientRect(); for (let i = 0; i < 200; i++) { const before = calls.clearRect; c.dispatchEvent(new WheelEvent('wheel', {deltaY: i % 40 < 20 ? -1 : 1, clientX: b.left + 500, clientY: b.top + 300, bubbles: true, cancelable: true})); while (calls.clearRect === before) await new Promise(done => setTimeout(done)) } })()`)
	for range 10 {
		run(ctx, t, "zoom", key("+"))
	}
	calls = nil
	run(ctx, t, "part", until(ctl+`.small`), evaluate(`pan(10).then(() => { calls = {clearRect: 0}; return pan(10) })`, nil), chromedp.Evaluate(`calls`, &calls))
	if n := calls["clearRect"]; n < 10 || calls["arc"] > 300*n {
		t.Errorf("of a part of the map %d frames take %v calls", n, calls)
	}
	// Nothing is drawn while nothing changes.
	run(ctx, t, "still", evaluate(`(async () => { for (let before = -1; before !== calls.clearRect;) { before = calls.clearRect; for (let i = 0; i < 20; i++) await new Promise(done => requestAnimationFrame(done)) } })()`, nil))
	if heap := used(ctx, t); heap > 40e6 {
		t.Errorf("a map of 1,000 nodes takes %.1f MB", heap/1e6)
	} else {
		t.Logf("a map of 1,000 nodes takes %.1f MB", heap/1e6)
	}

	// What is folded is found and shown by itself; what a node stands for is unfolded by key, button and mouse.
	var at []float64
	run(ctx, t, "found", showPage("#/map?fold=1"), nodes(160), chromedp.SendKeys(`[aria-label="Find on the map"]`, "sw1000"), nodes(161), until(ctl+`.places.n999`), chromedp.SendKeys(`[aria-label="Find on the map"]`, "\r"), until(`document.querySelector('.panel h2').textContent === 'sw1000'`),
		chromedp.Evaluate(`(() => { const e = document.querySelector('[aria-label="Find on the map"]'); e.value = ''; e.dispatchEvent(new Event('input', {bubbles: true})) })()`, nil), showPage("#/map?fold=1&sel="+parent), shows("Unfold 6, 1 silent"), key("e"), nodes(166), press("Fold its leaves"), nodes(160), shows("Unfold 6, 1 silent"))
	run(ctx, t, "fold-by-mouse", showPage("#/map?fold=1"), until(`!document.querySelector('.panel')`), key("f"), showPage("#/map?fold=1"), nodes(160), until(ctl+`.folds.length === 140`),
		chromedp.Evaluate(`(() => { const b = document.querySelector('canvas.map').getBoundingClientRect(), f = `+ctl+`.folds.find(f => f.id === '`+parent+`'); return [b.left + f.x + f.w / 2, b.top + f.y + f.h / 2] })()`, &at))
	click := func(kind input.MouseType) chromedp.Action {
		return input.DispatchMouseEvent(kind, at[0], at[1]).WithButton(input.Left).WithButtons(1).WithClickCount(1)
	}
	run(ctx, t, "unfold-by-mouse", click(input.MousePressed), click(input.MouseReleased), nodes(166))

	// Without a worker the map is the same; one that does not answer ends when its page is left, and is not waited for by others.
	answered(ctx, t, c, network, "broken", "#/map")
	run(ctx, t, "inline", until(drawn), chromedp.Evaluate(`started`, &broken), chromedp.Evaluate(`JSON.stringify(`+ctl+`.at)`, &inline))
	if len(broken) != 1 || inline != places {
		t.Errorf("without a worker (%d began) the map is another: %s", len(broken), firstDifference(places, inline))
	}
	answered(ctx, t, c, network, "silent", "#/map")
	run(ctx, t, "silent", shows("1000 nodes are laid out"), until(`started.length === 1 && ended === 0`), showPage("#/devices"), until(`ended === 1`), until(`document.querySelector('main table').getAttribute('aria-rowcount') === '1000'`))
	answered(ctx, t, c, fixed(document(300, leafSpine(280, 20))), "silent", "#/map")
	run(ctx, t, "small", until(drawn), nodes(300), until(`started.length === 0`))
	noComplaints(t, complaints())
}

// firstDifference is what follows where two texts part.
func firstDifference(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	from := max(0, i-80)
	return fmt.Sprintf("%.200s instead of %.200s", b[from:], a[from:])
}

// A page that is open for an hour, with three events each three seconds, holds no more in the end than before; a table of 5,000 rows is in the document in part.
func TestLongOpen(t *testing.T) {
	ctx, complaints := browser(t)
	c := harness.Start(t, bin, nil)
	run(ctx, t, "login", chromedp.EmulateViewport(1280, 900), chromedp.Navigate(c.HTTP+"/"), logIn("admin", "admin"))
	answered(ctx, t, c, ringOf(60), "", "#/map")
	const elements = `document.querySelectorAll('*').length`
	var first, last, asked int
	run(ctx, t, "warm", until(drawn), evaluate(`happen(150)`, nil), until(`[...document.querySelectorAll('.counts .mark')].some(m => m.textContent.endsWith(' gone'))`), chromedp.Evaluate(elements, &first))
	before := used(ctx, t)
	for range 12 {
		run(ctx, t, "hour", evaluate(`happen(100)`, nil))
	}
	after := used(ctx, t)
	run(ctx, t, "elements", chromedp.Evaluate(elements, &last), chromedp.Evaluate(`asked`, &asked), until(`document.querySelectorAll('.ticker li').length === 5`))
	t.Logf("the topology was read %d times; heap %.2f MB before the hour, %.2f MB after it; %d and %d elements", asked, before/1e6, after/1e6, first, last)
	if asked < 1350 || after > before+5e6 || last > first+50 {
		t.Errorf("an hour of events leaves more in the page than it found")
	}

	const rows, lastCell = 5000, `[...document.querySelectorAll('main tbody tr:not([aria-hidden])')].at(-1).cells[1].textContent`
	var inDocument, all int
	var shownAfter float64
	answered(ctx, t, c, ringOf(rows), "", "#/devices")
	run(ctx, t, "table", until(fmt.Sprintf(`document.querySelector('main table').getAttribute('aria-rowcount') === '%d'`, rows)), chromedp.Evaluate(`performance.now()`, &shownAfter),
		until(`(document.querySelector('main .scroll').scrollTop = 1e9, `+lastCell+` === 'swn4999')`), chromedp.Evaluate(`document.querySelectorAll('main tbody tr').length`, &inDocument), chromedp.Evaluate(elements, &all),
		chromedp.SendKeys(`[aria-label="Filter devices"]`, "swn4321"), shows("1 of 5,000"), cell("swn4321"))
	heap := used(ctx, t)
	t.Logf("5,000 devices: shown %.0f ms after the page was opened, %d rows and %d elements in the document, heap %.1f MB", shownAfter, inDocument, all, heap/1e6)
	if inDocument > 100 || all > 2000 || heap > 40e6 {
		t.Errorf("5,000 devices take %d rows, %d elements and %.1f MB", inDocument, all, heap/1e6)
	}
	noComplaints(t, complaints())
}
