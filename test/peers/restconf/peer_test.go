//go:build peers

package restconfpeers

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ctl.internal/test/harness"
)

var bin string

func TestMain(m *testing.M) { os.Exit(harness.Main(m, "../../..", &bin)) }

const admin = "admin:admin"

// need skips where a program is not there. The Python ones are in the virtual environment that
// test/peers/install.sh makes, or in the one whose bin directory PEERS_PYTHON names.
func need(t *testing.T, name string) string {
	t.Helper()
	dirs := []string{os.Getenv("PEERS_PYTHON")}
	if cache, err := os.UserCacheDir(); err == nil {
		dirs = append(dirs, filepath.Join(cache, "ctl-peers", "bin"))
	}
	for _, dir := range dirs {
		if path := filepath.Join(dir, name); dir != "" && exec.CommandContext(harness.Deadline(t), "test", "-x", path).Run() == nil {
			return path
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("SKIPPED, NOT TESTED: the peer %s is not installed (test/peers/install.sh; PEERS_PYTHON names the bin directory of other Python ones)", name)
	}
	return path
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(harness.Deadline(t), name, args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s %s: %v\n%s", filepath.Base(name), strings.Join(args, " "), err, out)
	}
	return string(out)
}

func get(t *testing.T, c *harness.Controller, path, accept string) string {
	t.Helper()
	r, err := http.NewRequest("GET", c.HTTP+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("admin", "admin")
	r.Header.Set("Accept", accept)
	a := c.Send(r)
	if a.Status != 200 {
		t.Fatalf("GET %s as %s: %d %s", path, accept, a.Status, a.Body)
	}
	return a.Body
}

// modules writes the text of every module that the library lists into dir, as ext.
func modules(t *testing.T, c *harness.Controller, dir, accept, ext string) []string {
	t.Helper()
	var lib struct {
		Lib struct {
			Set []struct {
				Module, Import []struct {
					Name, Revision string
					Location       []string
				}
			} `json:"module-set"`
		} `json:"ietf-yang-library:yang-library"`
	}
	text := strings.ReplaceAll(get(t, c, "/rests/data/ietf-yang-library:yang-library", "application/yang-data+json"), `"import-only-module"`, `"import"`)
	if err := json.Unmarshal([]byte(text), &lib); err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, m := range append(lib.Lib.Set[0].Module, lib.Lib.Set[0].Import...) {
		name := m.Name
		if m.Revision != "" {
			name += "@" + m.Revision
		}
		files = append(files, write(t, filepath.Join(dir, name+ext), get(t, c, m.Location[0], accept)))
	}
	if len(files) < 10 {
		t.Fatalf("the library lists %v", files)
	}
	return files
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const topology = `{"network-topology:network-topology":{"topology":[{"topology-id":"t <1>","node":[{"node-id":"ä&\"'"},{"node-id":"a/b,c"}],
	"link":[{"link-id":"l","source":{"source-node":"a/b,c"},"destination":{"dest-node":"ä&\"'"}}]}]}}`

func TestYanglintReadsWhatIsServed(t *testing.T) {
	lint := need(t, "yanglint")
	c := harness.Start(t, bin, nil)
	dir := t.TempDir()
	files := modules(t, c, dir, "application/yang", ".yang")
	yin := t.TempDir()
	for _, f := range append(files, modules(t, c, yin, "application/yin+xml", ".yin")...) {
		if strings.HasPrefix(filepath.Base(f), "aaa@") {
			continue // upstream's own: a configuration list without a key
		}
		run(t, lint, "-p", dir, f)
	}
	module := func(name string) string {
		found, _ := filepath.Glob(filepath.Join(dir, name+"@*.yang"))
		if len(found) != 1 {
			t.Fatalf("%s: %v", name, found)
		}
		return found[0]
	}
	// The library in both revisions, as one document.
	for accept, file := range map[string]string{"application/yang-data+json": "lib.json", "application/yang-data+xml": "lib.xml"} {
		a, b := get(t, c, "/rests/data/ietf-yang-library:yang-library", accept), get(t, c, "/rests/data/ietf-yang-library:modules-state", accept)
		text := a + b
		if strings.HasSuffix(file, "json") {
			text = strings.TrimSuffix(a, "}") + "," + strings.TrimPrefix(b, "{")
		}
		run(t, lint, "-p", dir, "-t", "data", module("ietf-yang-library"), module("ietf-datastores"), write(t, filepath.Join(dir, file), text))
	}
	// What yanglint makes XML of, we read, and what we write, it reads.
	doc := write(t, filepath.Join(dir, "t.json"), topology)
	xml := filepath.Join(dir, "t.xml")
	run(t, lint, "-p", dir, "-t", "config", "-f", "xml", "-o", xml, module("network-topology"), doc)
	text, err := os.ReadFile(xml)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequest("PUT", c.HTTP+"/rests/data/network-topology:network-topology", strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("admin", "admin")
	r.Header.Set("Content-Type", "application/yang-data+xml")
	if a := c.Send(r); a.Status != 201 {
		t.Fatalf("PUT of yanglint's XML: %d %s", a.Status, a.Body)
	}
	ours := func(accept, file string) string {
		f := write(t, filepath.Join(dir, file), get(t, c, "/rests/data/network-topology:network-topology?content=config", accept))
		return run(t, lint, "-p", dir, "-t", "config", "-f", "json", module("network-topology"), f)
	}
	want := run(t, lint, "-p", dir, "-t", "config", "-f", "json", module("network-topology"), doc)
	if got := ours("application/yang-data+xml", "o.xml"); got != want {
		t.Errorf("our XML means %s\nwant %s", got, want)
	}
	if got := ours("application/yang-data+json", "o.json"); got != want {
		t.Errorf("our JSON means %s\nwant %s", got, want)
	}
}

func TestYangsonValidatesOurData(t *testing.T) {
	yangson := need(t, "yangson")
	c := harness.Start(t, bin, nil)
	dir := t.TempDir()
	modules(t, c, dir, "application/yang", ".yang")
	lib := write(t, filepath.Join(dir, "lib.json"), get(t, c, "/rests/data/ietf-yang-library:modules-state", "application/yang-data+json"))
	if a := c.Do("PUT", "/rests/data/network-topology:network-topology", admin, topology); a.Status != 201 {
		t.Fatal(a)
	}
	data := write(t, filepath.Join(dir, "data.json"), get(t, c, "/rests/data/network-topology:network-topology", "application/yang-data+json"))
	run(t, yangson, "-p", dir, "-c", "config", "-v", data, lib)
}

// TestPublicClient drives iupy-restconf, a client for devices with RESTCONF of any maker: it finds the root
// as RFC 8040 section 3.1 says, reads the library and the operations, and writes and reads data.
func TestPublicClient(t *testing.T) {
	python := need(t, "python")
	if exec.CommandContext(harness.Deadline(t), python, "-c", "import restconf").Run() != nil {
		t.Skip("SKIPPED, NOT TESTED: the peer iupy-restconf is not installed (test/peers/install.sh)")
	}
	c := harness.Start(t, bin, nil)
	u, err := url.Parse(c.HTTP)
	if err != nil {
		t.Fatal(err)
	}
	script := write(t, filepath.Join(t.TempDir(), "client.py"), `
import restconf, sys
r = restconf.RestConf()
assert r.connect(transport="http", host=sys.argv[1], port=sys.argv[2], un="admin", pw="admin") is True
r.get_yang_date(); assert r.yang_library == {"ietf-restconf:yang-library-version": "2019-01-04"}, r.yang_library
r.get_data_modules(); assert r.check_data_module("network-topology")["revision"] == "2013-10-21"
r.get_operations_resources(); assert len(r.rc_operations["ietf-restconf:operations"]) > 0, r.rc_operations
top = "data/network-topology:network-topology"
node = lambda n: {"network-topology:node": [{"node-id": n}]}
def want(answer, status, text=None):
    assert answer.status_code == status and (text is None or answer.json() == text), (answer.status_code, answer.text)
    return answer
want(r.put(top + "/topology=t", {"network-topology:topology": [{"topology-id": "t"}]}), 201)
location = want(r.post(top + "/topology=t", node("a/b,c")), 201).headers["Location"]
want(r.get(location[len("/rests/"):]), 200, node("a/b,c"))
want(r.patch(top + "/topology=t", {"network-topology:topology": [{"topology-id": "t", "node": [{"node-id": "n"}]}]}), 204)
want(r.put(top + "/topology=t/node=n", node("n")), 204)
want(r.post(top + "/topology=t", node("n")), 409)
assert want(r.put(top + "/topology=t/node=m", node("n")), 400).json()["ietf-restconf:errors"]["error"][0]["error-tag"] == "invalid-value"
want(r.head(top + "/topology=t"), 200)
want(r.delete(top + "/topology=t/node=n"), 204)
want(r.get(top + "/topology=t/node=n"), 404)
want(r.post("operations/sal-remote:create-data-change-event-subscription", {"sal-remote:input": {"path": "/network-topology:network-topology"}}), 200)
`)
	run(t, python, script, u.Hostname(), u.Port())
}

func TestOpenAPI(t *testing.T) {
	c := harness.Start(t, bin, nil)
	dir := t.TempDir()
	doc := write(t, filepath.Join(dir, "api.json"), c.Do("GET", "/apidoc/openapi.json", admin, "").Body)
	text := write(t, filepath.Join(dir, "api.yaml"), c.Do("GET", "/apidoc/openapi.yaml", admin, "").Body)
	t.Run("validator", func(t *testing.T) {
		v := need(t, "openapi-spec-validator")
		run(t, v, doc)
		run(t, v, text)
	})
	t.Run("client in Python", func(t *testing.T) {
		gen := need(t, "openapi-python-client")
		cmd := exec.CommandContext(harness.Deadline(t), gen, "generate", "--path", doc, "--meta", "none", "--output-path", filepath.Join(dir, "client"))
		if out, err := cmd.CombinedOutput(); err != nil && !strings.Contains(string(out), "ruff") { // the formatter may be absent
			t.Fatalf("%v\n%s", err, out)
		}
		run(t, "python3", "-m", "compileall", "-q", filepath.Join(dir, "client"))
		if files, _ := filepath.Glob(filepath.Join(dir, "client", "api", "*", "*.py")); len(files) < 50 {
			t.Errorf("the client has %d calls", len(files))
		}
	})
}

func TestHTTP2ByPriorKnowledge(t *testing.T) {
	curl := need(t, "curl")
	c := harness.Start(t, bin, nil)
	out := run(t, curl, "-s", "--http2-prior-knowledge", "-u", admin, "-w", " %{http_version} %{http_code}", "-H", "Accept: application/xml", c.HTTP+"/rests/yang-library-version")
	if !strings.HasSuffix(out, " 2 200") {
		t.Error(out)
	}
	out = run(t, curl, "-s", "--http2-prior-knowledge", "-u", admin, "-w", " %{http_version} %{http_code}", "-X", "PUT", "-H", "Content-Type: application/json",
		"-d", topology, c.HTTP+"/rests/data/network-topology:network-topology")
	if !strings.HasSuffix(out, " 2 201") {
		t.Error(out)
	}
}
