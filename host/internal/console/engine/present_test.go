package engine

import (
	"strings"
	"testing"

	"ctl.internal/internal/console"
)

func TestTablesAreShownAsAskedFor(t *testing.T) {
	const all = "Name    | Size\n--------+-----\nport 10 |    7\nport 9  |   30\n"
	for line, want := range map[string]string{
		"test:rows":                all,
		"test:rows --format table": all,
		"test:rows --sort name --columns size,name":     "Size | Name\n-----+--------\n  30 | port 9\n   7 | port 10\n",
		"test:rows --where 'size>10' --format csv":      "name,size\nport 9,30\n",
		"test:rows --format yaml":                       "- name: port 10\n  size: 7\n- name: port 9\n  size: 30\n",
		"test:rows --columns name | head -1":            "Name\n",
		"test:rows --where name=x":                      "",
		"test:rows --columns size --format json | head": "[\n  {\n    \"size\": 7\n  },\n  {\n    \"size\": 30\n  }\n]\n",
		"test:text --format text":                       "a text\n",
	} {
		out, errs, code := run(t, newTestSession(nil), line, "")
		if code != console.OK || out != want {
			t.Errorf("%s: code %d, %s\n%s\nwant\n%s", line, code, errs, out, want)
		}
	}
	out, errs, code := run(t, newTestSession(nil), "test:check --format csv", "")
	if code != console.Usage || out != "name\nbad\n" || !strings.Contains(errs, "something is bad") {
		t.Errorf("a check: code %d, %q %q", code, out, errs)
	}
	if _, errs, _ = run(t, newTestSession(nil), "test:text --where x=1", ""); !strings.Contains(errs, "which cannot be laid out") {
		t.Errorf("text: %q", errs)
	}
	out, _, _ = run(t, newTestSession(nil), "test:rows --help", "")
	for _, want := range []string{"--columns COLUMNS", "--sort SORT", "--where WHERE", "text, json, table, yaml, csv"} {
		if !strings.Contains(out, want) {
			t.Errorf("the help lacks %q: %s", want, out)
		}
	}
}
