package e2e

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	lab "ctl.internal/internal/lab/network"
	"ctl.internal/test/harness"
)

const hookSecret = "0123456789abcdef-hush"

// hook is a webhook that keeps what it took. It refuses the first message of each kind once.
type hook struct {
	mu      sync.Mutex
	refused map[string]bool
	took    []notification
	faults  []string
}

// notification is the body of a webhook.
type notification struct {
	ID      string `json:"id"`
	Event   string `json:"event"`
	Trouble string `json:"trouble"`
	Kind    string `json:"kind"`
	Subject string `json:"subject"`
	Since   string `json:"since"`
	Cause   string `json:"cause"`
	Remedy  string `json:"remedy"`
}

func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	text, err := io.ReadAll(r.Body)
	mac := hmac.New(sha256.New, []byte(hookSecret))
	fmt.Fprintf(mac, "%s.%s", r.Header.Get("Ctl-Timestamp"), text)
	var one notification
	if err != nil || json.Unmarshal(text, &one) != nil || r.Header.Get("Ctl-Signature") != "sha256="+hex.EncodeToString(mac.Sum(nil)) {
		h.faults = append(h.faults, string(text))
		http.Error(w, "no", http.StatusForbidden)
		return
	}
	if !h.refused[one.Event] && one.Event != "test" {
		h.refused[one.Event] = true
		http.Error(w, "not now", http.StatusInternalServerError)
		return
	}
	h.took = append(h.took, one)
}

// heard returns the first of an event of a kind, and how many there were, each once by its id.
func (h *hook) heard(event, kind string) (first notification, n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	ids := map[string]bool{}
	for _, one := range h.took {
		if one.Event != event || one.Kind != kind || ids[one.ID] {
			continue
		}
		if ids[one.ID] = true; n == 0 {
			first = one
		}
		n++
	}
	return first, n
}

// A webhook is notified of a cut link and, after the controller was killed, that it is back: each once, signed, also when it
// refuses the first attempt. Nothing that the controller shows has its secrets.
func TestNotifications(t *testing.T) {
	net, err := lab.Start(lab.Options{Topology: "ring:3"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(net.Close)
	h := &hook{refused: map[string]bool{}}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	c := harness.Start(t, bin, map[string]string{
		"switch_swdb.csv": string(net.CSV()),
		"ctl.yaml": "notify:\n  targets:\n    hook:\n      webhook: {url: \"" + server.URL + "/path-hush\", secret: " + hookSecret + "}\n" +
			"  rules:\n    - {kinds: [link-lost], targets: [hook], after: 0}\n",
	})
	c.Ctl("feature:install --grant ctl-switch-all")
	c.Ctl("switch:TopoDiscover")
	harness.Within(t, "the topology is published", func() bool {
		return strings.Contains(c.Do("GET", networks+"switch%3A1?content=nonconfig", admin, "").Body, "link-id")
	})
	if err := net.SetLink("sw1", "sw2", false); err != nil {
		t.Fatal(err)
	}
	c.Ctl("switch:TopoDiscover")
	var raised notification
	harness.Within(t, "the webhook is notified of the cut link", func() (there bool) {
		var n int
		raised, n = h.heard("raised", "link-lost")
		return n == 1
	})
	if !strings.Contains(raised.Subject, "sw1") || raised.Since == "" || raised.Remedy == "" {
		t.Errorf("%+v", raised)
	}
	checkNotifyCommands(t, c, h)

	c.Kill()
	c.Launch()
	if err := net.SetLink("sw1", "sw2", true); err != nil {
		t.Fatal(err)
	}
	var over notification
	harness.Within(t, "the webhook is notified that the link is back", func() bool {
		_, _ = c.TryCtl("switch:TopoDiscover") // the plugin may not serve yet
		var n int
		over, n = h.heard("cleared", "link-lost")
		return n == 1
	})
	if _, n := h.heard("raised", "link-lost"); n != 1 || over.Trouble != raised.Trouble || over.Since != raised.Since || over.ID == raised.ID {
		t.Errorf("raised %d times, %+v, then %+v", n, raised, over)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.faults) > 0 || !h.refused["raised"] || !h.refused["cleared"] {
		t.Errorf("wrong messages %q; refused %v", h.faults, h.refused)
	}
	if said := c.Log(); strings.Contains(said, "hush") {
		t.Error("a secret is in the log")
	}
}

// checkNotifyCommands checks what administrators may, and that others may not.
func checkNotifyCommands(t *testing.T, c *harness.Controller, h *hook) {
	t.Helper()
	c.Ctl("notify:test hook")
	if one, n := h.heard("test", "test"); n != 1 || !strings.Contains(one.Cause, "@sdn tests") {
		t.Errorf("%d tests were heard, %+v", n, one)
	}
	if out, err := c.TryCtl("notify:test hok"); err == nil || !strings.Contains(out+err.Error(), `did you mean "hook"?`) {
		t.Errorf("%s %v", out, err)
	}
	list := c.Ctl("notify:list") + c.Ctl("config:show --effective notify") + c.Ctl("config:show")
	if !strings.Contains(list, "webhook") || strings.Contains(list, "hush") {
		t.Errorf("%s", list)
	}
	for _, rpc := range []string{"get-targets", "test-target"} {
		a := c.Do("POST", "/rests/operations/ctl-notify:"+rpc, "user:user", `{"ctl-notify:input":{"target":"hook"}}`)
		if a.Status/100 == 2 {
			t.Errorf("a user without a role calls %s: %d %s", rpc, a.Status, a.Body)
		}
	}
}
