//go:build peers

package webpeers

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"ctl.internal/internal/lab/network"
	"ctl.internal/sdk/plugintest/reserve"
	"ctl.internal/test/harness"
)

const root = "../../.."

// patience bounds everything a page is waited for.
const patience = 8 * time.Minute

// browser starts Chromium, which reaches this machine only, and collects what the
// pages complain about.
func browser(t *testing.T) (ctx context.Context, complaints func() []string) {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("SKIPPED, NOT TESTED: the peer chromium is not installed (test/peers/install.sh installs it as root)")
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(program), chromedp.NoSandbox,
		chromedp.WindowSize(1400, 1000), chromedp.UserDataDir(reserve.Dir(t, "ctl-chromium")), chromedp.WSURLReadTimeout(patience),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"))
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	var m sync.Mutex
	var said []string
	chromedp.ListenTarget(ctx, func(e any) {
		m.Lock()
		defer m.Unlock()
		switch e := e.(type) {
		case *runtime.EventExceptionThrown:
			said = append(said, e.ExceptionDetails.Error())
		case *log.EventEntryAdded:
			if e.Entry.Level == log.LevelError {
				said = append(said, e.Entry.Text+" "+e.Entry.URL)
			}
		}
	})
	if err := chromedp.Run(ctx); err != nil { // the first context is the browser's life
		t.Fatal(err)
	}
	return ctx, func() []string { m.Lock(); defer m.Unlock(); return slices.Clone(said) }
}

// run does the steps and, when one fails or PAGES names a folder, leaves a picture there.
func run(ctx context.Context, t *testing.T, name string, steps ...chromedp.Action) {
	t.Helper()
	var err error
	for i, step := range steps {
		within, done := context.WithTimeout(ctx, patience/4)
		if err = chromedp.Run(within, step); err != nil {
			err = fmt.Errorf("step %d: %w", i+1, err)
		}
		done()
		if err != nil {
			break
		}
	}
	if dir := os.Getenv("PAGES"); dir != "" {
		var png []byte
		if e := chromedp.Run(ctx, chromedp.FullScreenshot(&png, 100)); e == nil {
			_ = os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600)
		}
	}
	if err != nil {
		var text string
		_ = chromedp.Run(ctx, chromedp.Text("body", &text))
		t.Fatalf("%s: %v; the page shows\n%s", name, err, text)
	}
}

// choose finds an entry by typing and clicks it.
func choose(filter, entry string) chromedp.Tasks {
	return chromedp.Tasks{
		chromedp.WaitVisible(`#list button`),
		chromedp.Evaluate(`document.getElementById("filter").value = ""`, nil),
		chromedp.SendKeys(`#filter`, filter),
		chromedp.Click(`//ul[@id="list"]//button[contains(., "`+entry+`")]`, chromedp.BySearch),
	}
}

// call fills the body of the chosen operation and sends it; the answer must contain want.
func call(body, want string) chromedp.Tasks {
	tasks := chromedp.Tasks{chromedp.WaitVisible(`#send`)}
	if body != "" {
		tasks = append(tasks, chromedp.SetValue(`#detail textarea`, body))
	}
	return append(tasks, chromedp.Click(`#send`), chromedp.WaitVisible(`//pre[@id="answer" and contains(., '`+want+`')]`, chromedp.BySearch))
}

// The pages work in a browser that reaches nothing else: state and map, explorer with
// requests really sent, YANG tree. Without a feature's -ui its operations are not there.
func TestPages(t *testing.T) {
	ctx, complaints := browser(t)
	bin := t.TempDir()
	if out, err := harness.Build(root, bin); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lab, err := network.Start(network.Options{Topology: "ring:5"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(lab.Close)
	c := harness.Start(t, bin, map[string]string{"switch_swdb.csv": string(lab.CSV())})
	for _, f := range []string{"ctl-switch-all", "ctl-bier-topomanager-ui"} {
		c.Ctl("feature:install " + f)
	}
	for path, want := range map[string]int{"/": http.StatusUnauthorized, "/apidoc/openapi.json": http.StatusUnauthorized, "/web/common.js": http.StatusUnauthorized} {
		if status, _, err := c.Get(path, "nobody", "wrong"); err != nil || status != want {
			t.Errorf("%s for a stranger: %d %v, want %d", path, status, err, want)
		}
	}
	at := strings.Replace(c.HTTP, "http://", "http://admin:admin@", 1)

	run(ctx, t, "state", chromedp.Navigate(at+"/"),
		chromedp.WaitVisible(`//table[@id="plugins"]//td[contains(., "bier-topomanager")]`, chromedp.BySearch),
		chromedp.WaitVisible(`//small[@id="counts" and contains(., "5 nodes, 5 links")]`, chromedp.BySearch),
		chromedp.WaitReady(`#map circle`))

	for _, page := range []string{"/", "/apidoc/", "/yangui/"} {
		var wide int64
		run(ctx, t, "narrow", chromedp.EmulateViewport(380, 800), chromedp.Navigate(at+page), chromedp.WaitReady(`#list button, #plugins td`),
			chromedp.Evaluate(`document.documentElement.scrollWidth`, &wide), chromedp.EmulateViewport(1400, 1000))
		if wide > 380 {
			t.Errorf("in a window of 380 points %s is %d wide", page, wide)
		}
	}

	run(ctx, t, "explorer", chromedp.Navigate(at+"/apidoc/"),
		choose("configure-domain", "bier-topology-api:configure-domain"),
		call(`{"input":{"topology-id":"switch:1","domain":[{"domain-id":7}]}}`, "SUCCESS"))
	run(ctx, t, "explorer-read", choose("get-node-list", "get-node-list"), call("", "node"))
	run(ctx, t, "explorer-fault", choose("add-vlan", "vlan:add-vlan"), call(`{"input":{"node-id":1,"vlan-id":5000}}`, "vlan-id"))

	run(ctx, t, "explorer-stream", choose("streams", "streams/stream/switch"), chromedp.Click(`#send`), chromedp.WaitVisible(`#stop`),
		chromedp.ActionFunc(func(context.Context) error { return lab.SetLink("sw1", "sw2", false) }),
		chromedp.ActionFunc(func(context.Context) error { c.Ctl("switch:TopoDiscover"); return nil }),
		chromedp.WaitVisible(`//div[@id="events"]/pre[contains(., "eventTime")]`, chromedp.BySearch),
		chromedp.Click(`#stop`), chromedp.WaitVisible(`//p[contains(., "ended")]`, chromedp.BySearch))

	run(ctx, t, "yang", chromedp.Navigate(at+"/yangui/"),
		choose("bier-topology-api", "bier-topology-api"),
		chromedp.WaitVisible(`//section[@id="detail"]//summary[contains(., "configure-domain")]`, chromedp.BySearch))

	c.Ctl("feature:uninstall ctl-bier-topomanager-ui")
	var listed string
	run(ctx, t, "explorer-without", chromedp.Navigate(at+"/apidoc/"), chromedp.WaitVisible(`#list button`),
		chromedp.SendKeys(`#filter`, "vlan"+kb.Enter), chromedp.Evaluate(`document.getElementById("filter").value = ""`, nil), chromedp.Evaluate(`document.getElementById('list').textContent`, &listed))
	if strings.Contains(listed, "bier-topology-api") || !strings.Contains(listed, "vlan:add-vlan") {
		t.Errorf("after its -ui feature went the explorer lists\n%s", listed)
	}
	for _, s := range complaints() {
		// Faults asked for above are told by the browser as well.
		if !strings.Contains(s, "status of 400") {
			t.Errorf("the browser complains: %s", s)
		}
	}
}
