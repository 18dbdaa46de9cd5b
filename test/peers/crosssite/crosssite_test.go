//go:build peers

package crosssitepeers

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"ctl.internal/sdk/plugintest/reserve"
	"ctl.internal/test/harness"
)

const root = "../../.."

var bin string

func TestMain(m *testing.M) { os.Exit(harness.Main(m, root, &bin)) }

// patience bounds everything a page is waited for.
const patience = 4 * time.Minute

// browser starts Chromium, which reaches the loopback only.
func browser(t *testing.T) context.Context {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("SKIPPED, NOT TESTED: the peer chromium is not installed (test/peers/install.sh installs it as root)")
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(program), chromedp.NoSandbox,
		chromedp.UserDataDir(reserve.Dir(t, "ctl-chromium")), chromedp.WSURLReadTimeout(patience),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE 127.0.0.2"))
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Run(ctx); err != nil { // the first context is the browser's life
		t.Fatal(err)
	}
	return ctx
}

// page serves a text at an address of the loopback, as another site does.
func page(t *testing.T, address string, text func() string) string {
	t.Helper()
	ln, err := net.Listen("tcp", address+":0")
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, text())
	}))
	s.Listener.Close()
	s.Listener = ln
	s.Start()
	t.Cleanup(s.Close)
	return s.URL
}

const policies = "/restconf/config/aaa:http-authorization/policies"

const body = `{"aaa:policies":[{"aaa:resource":"/stolen/**","aaa:permissions":[{"aaa:role":"admin","aaa:actions":["get"]}]}]}`

// A form and a fetch of another site, and of another port of the same host, change nothing although the
// browser has the administrator's session; the same fetch from the controller's own page works.
func TestForeignPagesChangeNothing(t *testing.T) {
	ctx := browser(t)
	c := harness.Start(t, bin, nil)
	c.Ctl("feature:install ctl-aaa-cert")
	stored := func() bool { return strings.Contains(c.Do("GET", policies, "admin:admin", "").Body, "/stolen/") }
	run := func(what string, steps ...chromedp.Action) {
		t.Helper()
		if err := chromedp.Run(ctx, steps...); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	// From here on the browser keeps the session.
	run("log in", chromedp.Navigate(c.HTTP+"/"), chromedp.WaitVisible(`.login`), chromedp.SetValue(`input[name=user]`, "admin"),
		chromedp.SetValue(`input[name=password]`, "admin"), chromedp.Click(`.login button`), chromedp.WaitVisible(`header nav`))
	form := func() string {
		return `<body onload="document.forms[0].submit()"><form method="post" action="` + c.HTTP + `/operations/aaa-cert-rpc:getCtlCertificate"></form>`
	}
	fetch := func() string {
		return `<body><p id="done"></p><script>
			const done = () => document.getElementById("done").textContent = "sent";
			fetch("` + c.HTTP + `/restconf/config/aaa:http-authorization", {method: "POST", mode: "no-cors", credentials: "include", body: new Blob(['` + body + `'])}).then(done, done);
		</script>`
	}
	for name, address := range map[string]string{"another port": "127.0.0.1", "another site": "127.0.0.2"} {
		var shown string
		run(name+": form", chromedp.Navigate(page(t, address, form)+"/"), chromedp.WaitVisible(`//*[contains(., "another origin")]`, chromedp.BySearch), chromedp.Text("body", &shown))
		if !strings.Contains(shown, "another origin") || strings.Contains(shown, "ctl-cert") {
			t.Errorf("a form of %s is answered %s", name, shown)
		}
		run(name+": fetch", chromedp.Navigate(page(t, address, fetch)+"/"), chromedp.WaitVisible(`//p[contains(., "sent")]`, chromedp.BySearch))
		if stored() {
			t.Errorf("a fetch of %s wrote a policy", name)
		}
	}
	var status int
	run("the controller's own page", chromedp.Navigate(c.HTTP+"/"), chromedp.WaitVisible(`header nav`),
		chromedp.Evaluate(`fetch("`+policies+`", {method: "PUT", headers: {"Content-Type": "application/json"}, body: '{"aaa:policies":`+body+`}'}).then(r => r.status)`,
			&status, chromedp.EvalAsValue, awaitPromise))
	if status/100 != 2 || !stored() {
		t.Errorf("the controller's own page gets %d and stored is %v", status, stored())
	}
	// The same without the rule: the pages are able to send what is refused above.
	reached := make(chan string, 8)
	plain := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			reached <- r.Header.Get("Content-Type") + " " + r.Header.Get("Sec-Fetch-Site")
		}
	}))
	t.Cleanup(plain.Close)
	c.HTTP = plain.URL
	run("control", chromedp.Navigate(page(t, "127.0.0.1", fetch)+"/"), chromedp.WaitVisible(`//p[contains(., "sent")]`, chromedp.BySearch))
	select {
	case got := <-reached:
		if got != " same-site" {
			t.Errorf("the browser sends %q, which is not what the test is about", got)
		}
	default:
		t.Error("the fetch of the page does not reach a server without the rule")
	}
}

func awaitPromise(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }
