//go:build peers

package restconfpeers

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ctl.internal/test/harness"
)

// calls are what generated clients do, by the method and path of the document.
var calls = map[string]string{
	"PUT topology":    "put /rests/data/network-topology:network-topology/topology={topology_topology_id}",
	"GET topology":    "get /rests/data/network-topology:network-topology/topology={topology_topology_id}",
	"PATCH topology":  "patch /rests/data/network-topology:network-topology/topology={topology_topology_id}",
	"POST topology":   "post /rests/data/network-topology:network-topology/topology={topology_topology_id}",
	"DELETE topology": "delete /rests/data/network-topology:network-topology/topology={topology_topology_id}",
	"GET nodes":       "get /rests/data/network-topology:network-topology/topology={topology_topology_id}/node",
	"PUT node":        "put /rests/data/network-topology:network-topology/topology={topology_topology_id}/node={node_node_id}",
	"GET node":        "get /rests/data/network-topology:network-topology/topology={topology_topology_id}/node={node_node_id}",
	"DELETE node":     "delete /rests/data/network-topology:network-topology/topology={topology_topology_id}/node={node_node_id}",
	"POST show":       "post /rests/operations/ctl-system:show",
}

// operationIDs returns the ids of the calls.
func operationIDs(t *testing.T, document string) map[string]string {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal([]byte(document), &doc); err != nil {
		t.Fatal(err)
	}
	ids := map[string]string{}
	for call, at := range calls {
		verb, path, _ := strings.Cut(at, " ")
		var op struct {
			ID string `json:"operationId"`
		}
		if err := json.Unmarshal(doc.Paths[path][verb], &op); err != nil {
			t.Fatalf("the document has no %s: %v", at, err)
		}
		ids[call] = op.ID
	}
	return ids
}

// Clients that are generated from the served document compile and do ten operations.
func TestGeneratedClients(t *testing.T) {
	c := harness.Start(t, bin, nil)
	document := c.Do("GET", "/apidoc/openapi.json", admin, "").Body
	ids := operationIDs(t, document)
	doc := write(t, filepath.Join(t.TempDir(), "api.json"), document)
	t.Run("Go", func(t *testing.T) { goClient(t, c, doc, ids) })
	t.Run("Python", func(t *testing.T) { pythonClient(t, c, doc, ids) })
	t.Run("TypeScript", func(t *testing.T) { typeScriptClient(t, doc, ids) })
}

// runIn runs a program in a directory.
func runIn(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(harness.Deadline(t), name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod")
	out, err := cmd.CombinedOutput()
	if err != nil {
		text := string(out)
		t.Fatalf("%s %v: %v\n%s", filepath.Base(name), args, err, text[max(0, len(text)-4000):])
	}
	return string(out)
}

// goClient has oapi-codegen make a client, which is pinned in .ci/clients.mod.
func goClient(t *testing.T, c *harness.Controller, doc string, ids map[string]string) {
	dir := t.TempDir()
	api := filepath.Join(dir, "api")
	if err := os.Mkdir(api, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(api, "client.go")
	generate := exec.CommandContext(harness.Deadline(t), "go", "tool", "-modfile=.ci/clients.mod", "oapi-codegen",
		"-generate", "types,client", "-package", "api", "-o", file, doc)
	generate.Dir = "../../.."
	if out, err := generate.CombinedOutput(); err != nil {
		t.Fatalf("oapi-codegen: %v\n%s", err, out)
	}
	code, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("testdata/client.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	methods := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^func \(c \*ClientWithResponses\) (\w+?)(?:WithBody)?WithResponse\(`).FindAllStringSubmatch(string(code), -1) {
		methods[strings.ToLower(m[1])] = m[1]
	}
	text := string(program)
	for call, id := range ids {
		method := methods[strings.ReplaceAll(strings.ToLower(id), "_", "")]
		if method == "" {
			t.Fatalf("the client has no method for %s", id)
		}
		text = strings.ReplaceAll(text, "{{"+call+"}}", method)
	}
	write(t, filepath.Join(dir, "main.go"), text)
	runIn(t, dir, "go", "mod", "init", "goclient")
	runIn(t, dir, "go", "get", "github.com/oapi-codegen/runtime@v1.9.0")
	runIn(t, dir, "go", "mod", "tidy")
	runIn(t, dir, "go", "build", "-o", "client", ".")
	t.Log(runIn(t, dir, filepath.Join(dir, "client"), c.HTTP))
}

// generator is openapi-generator, which needs Java.
func generator(t *testing.T) string {
	t.Helper()
	need(t, "java")
	return need(t, "openapi-generator-cli")
}

// codeOnly leaves out the tests and documents that openapi-generator makes of each schema.
const codeOnly = "--global-property=models,apis,supportingFiles,modelTests=false,apiTests=false,modelDocs=false,apiDocs=false"

func pythonClient(t *testing.T, c *harness.Controller, doc string, ids map[string]string) {
	gen, python := generator(t), need(t, "python")
	dir := t.TempDir()
	runIn(t, dir, gen, "generate", "-i", doc, "-g", "python", "-o", dir, "--package-name", "ctlclient", codeOnly)
	runIn(t, dir, python, "-m", "compileall", "-q", filepath.Join(dir, "ctlclient"))
	program, err := os.ReadFile("testdata/client.py")
	if err != nil {
		t.Fatal(err)
	}
	args := []string{write(t, filepath.Join(dir, "client.py"), string(program)), c.HTTP}
	for call, id := range ids {
		args = append(args, call+"="+id)
	}
	t.Log(runIn(t, dir, python, args...))
}

// typeScriptClient has the client checked with its types; the compiler is that of the web console (make web-check).
func typeScriptClient(t *testing.T, doc string, ids map[string]string) {
	gen := generator(t)
	tsc, err := filepath.Abs("../../../host/web/node_modules/.bin/tsc")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(tsc); err != nil {
		t.Skip("SKIPPED, NOT TESTED: the peer tsc is not installed (make web-check installs it in host/web)")
	}
	dir := t.TempDir()
	runIn(t, dir, gen, "generate", "-i", doc, "-g", "typescript-fetch", "-o", dir, codeOnly)
	runIn(t, dir, tsc, "--noEmit", "--strict", "--skipLibCheck", "--target", "es2020", "--module", "esnext",
		"--moduleResolution", "bundler", "--lib", "es2020,dom", filepath.Join(dir, "index.ts"))
	code, err := os.ReadFile(filepath.Join(dir, "apis", "NetworkTopologyApi.ts"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ToLower(string(code))
	for call, id := range ids {
		if call != "POST show" && !strings.Contains(text, "async "+strings.ReplaceAll(id, "_", "")+"(") {
			t.Errorf("the client has no method for %s", id)
		}
	}
}
