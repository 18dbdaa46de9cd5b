package e2e

import (
	"strings"
	"testing"
	"time"

	"ctl.internal/test/harness"
)

// A plugin that has nothing but its module has commands: they check what is typed, obey the options of tables and are in the
// help; and what any command shows is laid out as it is asked for.
func TestCommandsThatAModuleDeclares(t *testing.T) {
	c := start(t, harness.NewHome(t))
	install(t, c, "racks", "cli", "ui")
	if a := c.Do("PUT", racksPath+"/rack=r1", admin, `{"racks:rack":[{"name":"r1","room":1}]}`); a.Status != 201 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	c.Ctl("racks:add r1 m1")
	if a := c.Do("GET", "/web/schema", admin, ""); a.Status != 200 || !strings.Contains(a.Body, `"tree":"racks:racks","path":["racks","rack","machine"]`) {
		t.Errorf("the description of pages: %d %s", a.Status, a.Body)
	}
	for line, want := range map[string]string{
		"help racks:add":           "racks:add - puts a machine into a rack",
		"racks:add --help":         "Example: racks:add my-rack my-machine",
		"help racks":               "racks:where",
		"feature:list --columns x": `there is no column "x"`,
		"plugin:list --where 'name = racks' --columns name,version --format csv": "name,version\nracks,1.0.0\n",
		"racks:add r1":    "racks:add: the argument machine is missing: The machine",
		"racks:add r1 ''": "racks:add: the argument machine: ",
		"racks:add r9 m2": "there is no rack r9",
		"racks:add r1 m2": "rack r1 has room for 1 machines only",
	} {
		if out, _ := c.TryCtl(line); !strings.Contains(out, want) {
			t.Errorf("%s: %s, want %s", line, out, want)
		}
	}
	for line, want := range map[string]string{
		"racks:where m1":                "Rack: r1\n",
		"racks:where m1 --format json":  "{\n  \"rack\": \"r1\"\n}\n",
		"racks:where m1 --format yaml":  "rack: r1\n",
		"racks:where m9":                "",
		"shell:complete 'racks:add '":   "r1\t\n",
		"shell:complete 'racks:where '": "m1\t\n",
	} {
		out := c.Ctl(line)
		// On a busy machine candidates may come after the time that a cursor waits for them.
		for end := time.Now().Add(time.Minute); out == "" && want != "" && time.Now().Before(end); {
			out = c.Ctl(line)
		}
		if out != want {
			t.Errorf("%s: %q, want %q", line, out, want)
		}
	}
}
