//go:build peers

package webpeers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"ctl.internal/internal/lab/network"
	"ctl.internal/sdk/plugintest/reserve"
	"ctl.internal/test/harness"
)

const root = "../../.."

var bin string

func TestMain(m *testing.M) {
	if os.Getenv("PICTURES") != "" && os.Getenv("URL") != "" { // of a controller that runs: nothing is built
		os.Exit(m.Run())
	}
	os.Exit(harness.Main(m, root, &bin, "./examples/login-listener", "./examples/racks"))
}

// patience bounds everything a page is waited for.
const patience = 8 * time.Minute

// browser starts Chromium, which reaches this machine only, and collects what the
// pages complain about: what they throw, and what the browser refuses or cannot load.
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

// switches starts a network of simulated switches, and a controller with these features that has discovered it.
func switches(t *testing.T, topology, features string) (*network.Network, *harness.Controller) {
	t.Helper()
	lab, err := network.Start(network.Options{Topology: topology})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(lab.Close)
	c := harness.Start(t, bin, map[string]string{"switch_swdb.csv": string(lab.CSV())})
	c.Ctl("feature:install --grant " + features)
	c.Ctl("switch:TopoDiscover")
	return lab, c
}

// run does the steps and, when one fails or PAGES names a folder, leaves a picture there.
func run(ctx context.Context, t *testing.T, name string, steps ...chromedp.Action) {
	t.Helper()
	var err error
	for i, step := range steps {
		within, done := context.WithTimeout(ctx, patience/8)
		for err = chromedp.Run(within, step); replaced(err) && within.Err() == nil; err = chromedp.Run(within, step) {
		}
		if err != nil {
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
		_ = chromedp.Run(ctx, chromedp.Evaluate(`document.body.innerText`, &text))
		t.Fatalf("%s: %v; the page shows\n%s", name, err, text)
	}
}

// replaced reports that the page drew an element again between its being found and its being used: nothing was done to it.
func replaced(err error) bool {
	var e *cdproto.Error
	return errors.As(err, &e) && e.Code == -32000 && (strings.Contains(e.Message, "node with given id") || strings.Contains(e.Message, "No node"))
}

func shot(ctx context.Context) ([]byte, error) { return page.CaptureScreenshot().Do(ctx) }

// until waits until an expression of the page is true.
func until(expression string) chromedp.Action {
	return chromedp.Poll(`(() => { try { return !!(`+expression+`) } catch { return false } })()`, nil, chromedp.WithPollingTimeout(patience/8))
}

// shows waits until the page shows words.
func shows(words string) chromedp.Action {
	return until(fmt.Sprintf(`document.body.innerText.includes(%q)`, words))
}

// logIn fills in the login that is shown, and waits for the page.
func logIn(user, password string) chromedp.Tasks {
	return chromedp.Tasks{chromedp.WaitVisible(`.login`), chromedp.SetValue(`input[name=user]`, user), chromedp.SetValue(`input[name=password]`, password),
		chromedp.Click(`.login button`), chromedp.WaitVisible(`header nav`)}
}

// press clicks the button or link of a name.
func press(name string) chromedp.Action {
	return chromedp.Click(fmt.Sprintf(`//*[self::button or self::a or self::summary][normalize-space(.)=%q]`, name), chromedp.BySearch)
}

// fill writes into the field of a label, as typing does.
func fill(label, text string) chromedp.Action {
	var ok bool
	return chromedp.Tasks{until(fmt.Sprintf(`[...document.querySelectorAll('label')].some(l => l.textContent.startsWith(%q))`, label)),
		chromedp.Evaluate(fmt.Sprintf(`(() => { const l = [...document.querySelectorAll('label')].find(l => l.textContent.startsWith(%q)), e = document.getElementById(l.htmlFor) ?? l.querySelector('input, select');
			const p = Object.getPrototypeOf(e); Object.getOwnPropertyDescriptor(p, 'value').set.call(e, %q); e.dispatchEvent(new Event('input', {bubbles: true})); e.dispatchEvent(new Event('change', {bubbles: true})); return true })()`, label, text), &ok)}
}
