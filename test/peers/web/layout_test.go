//go:build peers

package webpeers

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"ctl.internal/test/harness"
)

// document makes a topology document of n nodes with links between pairs of them.
func document(n int, pairs [][2]int) []byte {
	type object = map[string]any
	nodes, links := []object{}, []object{}
	for i := range n {
		nodes = append(nodes, object{"node-id": fmt.Sprint("n", i), "ctl-topology:name": fmt.Sprintf("sw%d", i+1), "ctl-topology:answering": true})
	}
	for _, p := range pairs {
		a, b := fmt.Sprint("n", p[0]), fmt.Sprint("n", p[1])
		for _, d := range [][2]string{{a, b}, {b, a}} {
			links = append(links, object{"link-id": d[0] + "-" + d[1], "source": object{"source-node": d[0], "source-tp": d[0] + ":" + d[1]}, "destination": object{"dest-node": d[1], "dest-tp": d[1] + ":" + d[0]}})
		}
	}
	text, _ := json.Marshal(object{"network-topology": object{"topology": []object{{"topology-id": "lab", "node": nodes, "link": links}}}})
	return text
}

func ring(first, n int) (pairs [][2]int) {
	for i := range n {
		pairs = append(pairs, [2]int{first + i, first + (i+1)%n})
	}
	return pairs
}

func leafSpine(leaves, spines int) (pairs [][2]int) {
	for l := range leaves {
		for s := range spines {
			pairs = append(pairs, [2]int{s, spines + l})
		}
	}
	return pairs
}

// ringsOfRings is a ring of 20, on each of its nodes a ring of 7 more, and on each of these six leaves: 1,000 nodes.
func ringsOfRings() (n int, pairs [][2]int) {
	pairs, n = ring(0, 20), 20
	for core := range 20 {
		at := []int{core}
		for range 7 {
			at = append(at, n)
			n++
		}
		for i := range at {
			pairs = append(pairs, [2]int{at[i], at[(i+1)%len(at)]})
		}
		for _, v := range at[1:] {
			for range 6 {
				pairs = append(pairs, [2]int{v, n})
				n++
			}
		}
	}
	return n, pairs
}

// fits is true when the view has become the one that holds all nodes.
const fits = `(() => {
	const p = ` + ctl + `.places, at = ` + ctl + `.at, ids = Object.keys(p), b = document.querySelector('canvas.map').getBoundingClientRect();
	const span = f => { const v = ids.map(f); return Math.max(...v) - Math.min(...v); }, x = span(i => at[i].x), y = span(i => at[i].y);
	const zoom = Math.min(3, (b.width - Math.max(90, b.width / 10)) / Math.max(1, x), (b.height - 90) / Math.max(1, y));
	return Math.abs(span(i => p[i][0]) - x * zoom) < 0.5 && Math.abs(span(i => p[i][1]) - y * zoom) < 0.5;
})()`

// pressFit presses Fit by script, for a button that moves away from the mouse would be a press on a node. A canvas that
// gets another size afterwards is filled again by itself.
var pressFit = chromedp.Evaluate(`[...document.querySelectorAll('main button')].find(b => b.textContent === 'Fit').click()`, nil)

// Networks are drawn by their pattern: names can be read, none over another, nodes are apart, and it is fast enough.
func TestLayouts(t *testing.T) {
	ctx, _ := browser(t)
	c := harness.Start(t, bin, nil)
	var now []byte
	chromedp.ListenTarget(ctx, func(e any) {
		if paused, ok := e.(*fetch.EventRequestPaused); ok {
			go func() {
				_ = chromedp.Run(ctx, fetch.FulfillRequest(paused.RequestID, 200).WithBody(base64.StdEncoding.EncodeToString(now)).
					WithResponseHeaders([]*fetch.HeaderEntry{{Name: "Content-Type", Value: "application/json"}}))
			}()
		}
	})
	run(ctx, t, "login", chromedp.EmulateViewport(1280, 900), chromedp.Navigate(c.HTTP+"/"), logIn("admin", "admin"),
		fetch.Enable().WithPatterns([]*fetch.RequestPattern{{URLPattern: "*/restconf/operational/network-topology:network-topology*"}}))
	tree := [][2]int{{8, 9}, {8, 10}, {9, 11}, {9, 12}, {10, 13}, {10, 14}}
	many, rings := ringsOfRings()
	for _, one := range []struct {
		name     string
		n, names int // names of nodes that must be readable at least
		pairs    [][2]int
	}{
		{"ring-and-tree", 15, 15, append(ring(0, 8), tree...)},
		{"leaf-spine-46x4", 50, 50, leafSpine(46, 4)},
		{"leaf-spine-280x20", 300, 200, leafSpine(280, 20)[2:]}, // two links are missing
		{"rings-of-rings", many, 80, rings},
	} {
		now = document(one.n, one.pairs)
		var got struct {
			Places map[string][2]float64
			Names  []struct {
				ID         string
				X, Y, W, H float64
			}
			Missing [][]string
		}
		run(ctx, t, "layout-"+one.name, chromedp.Navigate(c.HTTP+"/#/map"), chromedp.Reload(), shows(fmt.Sprintf("%d nodes, %d links", one.n, len(one.pairs))),
			until(drawn), until(`document.querySelector('[aria-pressed=true][title$="(c)"]') ? document.querySelector('.bar .link').click() : Object.keys(`+ctl+`.places).length > 0`),
			until(fmt.Sprintf(`Object.keys(`+ctl+`.places).length === %d`, one.n)), pressFit, until(fits), until(fmt.Sprintf(ctl+`.names.length >= %d`, one.names)), chromedp.Evaluate(ctl, &got))
		if len(got.Places) != one.n || len(got.Names) < one.names {
			t.Errorf("%s: %d of %d nodes, %d names, want %d", one.name, len(got.Places), one.n, len(got.Names), one.names)
		}
		for i, a := range got.Names {
			for _, b := range got.Names[:i] {
				if a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
					t.Errorf("%s: a name is over another at %v and %v", one.name, a, b)
				}
			}
		}
		if want := map[string]int{"leaf-spine-280x20": 2}[one.name]; len(got.Missing) != want {
			t.Errorf("%s: the links %v are drawn as missing, want %d", one.name, got.Missing, want)
		}
		if one.name == "rings-of-rings" { // the names of the core come first
			core := 0
			for _, n := range got.Names {
				if i, err := strconv.Atoi(strings.TrimPrefix(n.ID, "n")); err == nil && i < 20 {
					core++
				}
			}
			if core != 20 {
				t.Errorf("%d of 20 names of the core are readable", core)
			}
		}
		if close := tooClose(got.Places, 4); close > 0 {
			t.Errorf("%s: %d pairs of nodes are closer than 4 points", one.name, close)
		}
		if one.n >= 200 {
			smallMap(ctx, t, one.name)
		}
		places, err := json.Marshal(got.Places)
		if err != nil {
			t.Fatal(err)
		}
		// The same network is drawn in the same way the second time, when the page has its size and its nodes.
		run(ctx, t, "layout-again", chromedp.Reload(), until(drawn), until(fmt.Sprintf(`Object.keys(`+ctl+`.places).length === %d`, one.n)), pressFit, until(fits),
			until(`(was => Object.entries(`+ctl+`.places).every(([id, [x, y]]) => Math.abs(x - was[id][0]) < 0.01 && Math.abs(y - was[id][1]) < 0.01))(`+string(places)+`)`))
	}
	_ = chromedp.Run(ctx, chromedp.ActionFunc(func(ctx context.Context) error { return fetch.Disable().Do(ctx) }))
}

// smallMap holds that the small map of all nodes is there while some are outside of the view, and that a press in it
// goes there.
func smallMap(ctx context.Context, t *testing.T, name string) {
	t.Helper()
	const key = `document.querySelector('canvas.map').dispatchEvent(new KeyboardEvent('keydown', {key: %q, bubbles: true}))`
	var at []float64
	var before string
	run(ctx, t, "small-map-"+name, until(`!`+ctl+`.small`), chromedp.Evaluate(strings.Repeat(fmt.Sprintf(key, "+")+";", 12), nil), until(ctl+`.small`),
		chromedp.Evaluate(`(() => { const b = document.querySelector('canvas.map').getBoundingClientRect(), s = `+ctl+`.small; return [b.left + s.left + 4, b.top + s.top + 4] })()`, &at),
		chromedp.Evaluate(`JSON.stringify(`+ctl+`.places)`, &before))
	press := func(kind input.MouseType) chromedp.Action {
		return input.DispatchMouseEvent(kind, at[0], at[1]).WithButton(input.Left).WithButtons(1).WithClickCount(1)
	}
	run(ctx, t, "small-map-pressed-"+name, press(input.MousePressed), press(input.MouseReleased), until(fmt.Sprintf(`JSON.stringify(`+ctl+`.places) !== %q`, before)),
		chromedp.Evaluate(fmt.Sprintf(key, "f"), nil), until(`!`+ctl+`.small`))
}

func tooClose(places map[string][2]float64, least float64) (pairs int) {
	var all [][2]float64
	for _, p := range places {
		for _, o := range all {
			if dx, dy := p[0]-o[0], p[1]-o[1]; dx*dx+dy*dy < least*least {
				pairs++
			}
		}
		all = append(all, p)
	}
	return pairs
}
