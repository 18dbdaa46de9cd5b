//go:build peers

package certpeers

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ctl.internal/sdk/plugintest/reserve"
	"ctl.internal/test/harness"
)

const root = "../../.."

var bin string

func TestMain(m *testing.M) { os.Exit(harness.Main(m, root, &bin)) }

// need skips the test, loudly, when a peer cannot be had here.
func need(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIPPED, NOT TESTED: the peer %s is not installed (test/peers/install.sh installs it as root)", tool)
		}
	}
}

// sh runs a tool and returns what it said.
func sh(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(harness.Deadline(t), name, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C") // keytool speaks the user's language
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// controller is a running ctld that serves HTTPS, with the certificate service.
type controller struct {
	*harness.Controller
	t     *testing.T
	https string
}

// newHome is a home whose certificate settings have elements replaced.
func newHome(t *testing.T, elements map[string]string) string {
	t.Helper()
	home := filepath.Join(reserve.Dir(t, "ctl"), "h")
	const name = "etc/ctl/datastore/initial/config/aaa-cert-config.xml"
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	elements["use-config"] = "true"
	for e, value := range elements {
		text = regexp.MustCompile("<"+e+">[^<]*</"+e+">").ReplaceAll(text, []byte("<"+e+">"+value+"</"+e+">"))
	}
	if p := elements["tls-protocols"]; p != "" {
		text = bytes.Replace(text, []byte("<cipher-suites>"), []byte("<tls-protocols>"+p+"</tls-protocols><cipher-suites>"), 1)
	}
	if err := os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, name), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

func options(home string, environ []string) harness.Options {
	return harness.Options{Bin: bin, Home: home, Args: []string{"--https", "127.0.0.1:0", "--admin", "off"},
		Environ: append([]string{"CTL_ADMIN_PASSWORD=admin-secret", "CTL_USER_PASSWORD=user-secret"}, environ...)}
}

// refuses runs ctld, which must not start, and returns what it said.
func refuses(t *testing.T, home string, environ ...string) string {
	t.Helper()
	said, _ := harness.Refused(t, options(home, environ))
	return said
}

// start runs ctld on a home until the test ends, or Stop.
func start(t *testing.T, home string, environ ...string) *controller {
	t.Helper()
	c := &controller{Controller: harness.Run(t, options(home, environ)), t: t}
	c.https = c.Address("https")
	c.Ctl("feature:install ctl-aaa-cert")
	return c
}

func (c *controller) shell(args ...string) string {
	c.t.Helper()
	return sh(c.t, filepath.Join(bin, "ctl"), append([]string{"--home", c.Home}, args...)...)
}

func (c *controller) ssl(name string) string { return filepath.Join(c.Home, "configuration/ssl", name) }

// password of the nth keystore of the settings.
func (c *controller) password(n int) string {
	text, err := os.ReadFile(filepath.Join(c.Home, "etc/ctl/datastore/initial/config/aaa-cert-config.xml"))
	if err != nil {
		c.t.Fatal(err)
	}
	return string(regexp.MustCompile("<store-password>([^<]+)<").FindAllSubmatch(text, -1)[n][1])
}

// call calls an RPC and returns the status and the first string of its output.
func (c *controller) call(rpc string, input map[string]string) (int, string) {
	c.t.Helper()
	status, out, err := c.post(rpc, input)
	if err != nil {
		c.t.Fatal(err)
	}
	return status, out
}

// try is call for a controller that may end meanwhile.
func (c *controller) try(rpc string, input map[string]string) (int, error) {
	status, _, err := c.post(rpc, input)
	return status, err
}

func (c *controller) post(rpc string, input map[string]string) (int, string, error) {
	body, err := json.Marshal(map[string]any{"input": input})
	if err != nil {
		return 0, "", err
	}
	r, err := http.NewRequest("POST", c.HTTP+"/operations/aaa-cert-rpc:"+rpc, bytes.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("Content-Type", "application/json")
	r.SetBasicAuth("admin", "admin-secret")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	var out struct {
		Output map[string]string `json:"output"`
	}
	_ = json.NewDecoder(res.Body).Decode(&out) // an answer without content has none
	for _, v := range out.Output {
		return res.StatusCode, v, nil
	}
	return res.StatusCode, "", nil
}
