package present

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
)

const ports = `{"ctl-table":{"columns":[{"title":"Port","key":"name"},{"title":"VLAN","key":"vlan","right":true},
{"title":"State","key":"state"},{"title":"Tags","key":"tags"}],"rows":[["Gi1/0/10",20,"up",["a","b"]],
["Gi1/0/2",7,"down",[]],["Gi1/0/1",null,"up",["b"]]],"empty":"no ports"}}`

// show is what is written for a table.
func show(t *testing.T, output string, a Asked) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, []byte(output), a, 0); err != nil {
		return "error: " + err.Error()
	}
	return b.String()
}

func TestWhatIsAskedForIsShown(t *testing.T) {
	for name, one := range map[string]struct {
		asked Asked
		want  string
	}{
		"columns in their order, by key or title": {
			Asked{Columns: "vlan,Port", Format: "csv"},
			"vlan,name\n20,Gi1/0/10\n7,Gi1/0/2\n,Gi1/0/1\n",
		},
		"ports in natural order": {
			Asked{Columns: "name", Sort: "name", Format: "csv"},
			"name\nGi1/0/1\nGi1/0/2\nGi1/0/10\n",
		},
		"numbers from high to low, none is last": {
			Asked{Columns: "vlan", Sort: "-vlan", Format: "csv"},
			"vlan\n20\n7\n\n",
		},
		"two keys": {
			Asked{Columns: "state,name", Sort: "-state,name", Format: "csv"},
			"state,name\nup,Gi1/0/1\nup,Gi1/0/10\ndown,Gi1/0/2\n",
		},
		"a text table": {
			Asked{Where: "vlan >= 7", Sort: "vlan"},
			"Port     | VLAN | State | Tags\n---------+------+-------+-----\nGi1/0/2  |    7 | down  | \nGi1/0/10 |   20 | up    | a b\n",
		},
		"none": {Asked{Where: "vlan > 20"}, "no ports\n"},
		"json": {
			Asked{Columns: "state,vlan", Where: "name ~ 0/1", Format: "json"},
			"[\n  {\n    \"state\": \"up\",\n    \"vlan\": 20\n  },\n  {\n    \"state\": \"up\"\n  }\n]\n",
		},
		"yaml": {
			Asked{Columns: "vlan,tags", Where: "vlan > 0", Format: "yaml"},
			"- vlan: 20\n  tags:\n    - a\n    - b\n- vlan: 7\n  tags: []\n",
		},
		"no such column": {
			Asked{Columns: "vlam"},
			`error: --columns: there is no column "vlam" (did you mean "vlan"?); there are name, vlan, state, tags`,
		},
	} {
		if got := show(t, ports, one.asked); got != one.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, one.want)
		}
	}
}

func TestConditions(t *testing.T) {
	for where, want := range map[string]string{
		"state=up":                                 "10 1",
		"state = UP and vlan < 100":                "10",
		"state = down or vlan = 20":                "10 2",
		"state = down or state = up and vlan=20":   "10 2",
		"(state = down or state = up) and vlan=20": "10",
		"not state = up":                           "2",
		"not (state = up and vlan = 20)":           "2 1",
		"tags = b":                                 "10 1",
		"tags = ''":                                "2",
		"vlan = ''":                                "1",
		"vlan != 20":                               "2 1",
		"vlan = 20.0":                              "10",
		"name !~ '0/1'":                            "2",
		"* = 7":                                    "2",
		"* != up":                                  "2",
		`name = "Gi1/0/2"`:                         "2",
		"vlan <= 7":                                "2",
		"name > Gi1/0/2":                           "10",
		"state = up and":                           "error: --where: the condition ends where the name of a column",
		"state up":                                 `error: --where: "up" is where one of`,
		"state = 'up":                              "error: --where: the quote before",
		"(state = up":                              "error: --where: the condition ends where the closing parenthesis",
		"state = up state = down":                  `error: --where: "state" is where and, or`,
		"stat = up":                                `error: --where: there is no column "stat" (did you mean "state"?)`,
		"=":                                        `error: --where: "=" is where the name`,
		strings.Repeat("(", maxCondition+1):        "error: --where: the condition has more than 4096 bytes",
		strings.Repeat("not ", 900) + "state = up":  "10 1",
		strings.Repeat("(", maxCondition) + "state": "error: --where: the condition has more than",
	} {
		got := show(t, ports, Asked{Columns: "name", Where: where, Format: "csv"})
		if strings.HasPrefix(want, "error: ") {
			if !strings.HasPrefix(got, want) {
				t.Errorf("%.60s: %s, want %s", where, got, want)
			}
			continue
		}
		got = strings.ReplaceAll(strings.TrimPrefix(got, "name\n"), "Gi1/0/", "")
		if got = strings.TrimSpace(strings.ReplaceAll(got, "\n", " ")); got != want {
			t.Errorf("%.60s: %s, want %s", where, got, want)
		}
	}
}

// Cells that a spreadsheet would run as formulas are text, whatever wrote them; numbers stay numbers.
func TestCSVHasNoFormulas(t *testing.T) {
	const output = `[{"=key":"=1+1","b":"-7","c":-7,"d":"@SUM(A1)","e":["+x","y"],"f":"-2+3","g":"\t=1","h":"a=1"}]`
	const want = "'=key,b,c,d,e,f,g,h\n'=1+1,-7,-7,'@SUM(A1),'+x y,'-2+3,'\t=1,a=1\n"
	if got := show(t, output, Asked{Format: "csv"}); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Each number is read once for a row, not at every comparison.
func TestSortingReadsEachCellOnce(t *testing.T) {
	const rows = 2000
	table := Table{Columns: []Column{{Key: "n"}}}
	for i := range rows {
		table.Rows = append(table.Rows, []any{json.Number(strconv.Itoa(i * 7919 % rows))})
	}
	var sorted Table
	allocated := testing.AllocsPerRun(1, func() {
		var err error
		if sorted, err = table.Select(Asked{Sort: "n"}); err != nil {
			t.Fatal(err)
		}
	})
	for i, row := range sorted.Rows {
		if row[0] != json.Number(strconv.Itoa(i)) {
			t.Fatalf("row %d is %v", i, row)
		}
	}
	// Comparing two numbers allocates too: 42 for a row with keys made once, 264 with keys made at each comparison.
	if perRow := allocated / rows; perRow > 80 {
		t.Errorf("%.0f allocations for a row", perRow)
	}
}

// What plugins of other languages write has no columns.
func TestObjectsAreRows(t *testing.T) {
	const objects = `[{"name":"b","size":12345678901234567890},{"name":"a","up":true}]`
	if got, want := show(t, objects, Asked{Sort: "name", Format: "yaml"}),
		"- name: a\n  up: true\n- name: b\n  size: 12345678901234567890\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := show(t, `{"a":{"b":[1,"2"]}}`, Asked{Format: "yaml"}); got != "a:\n  b:\n    - 1\n    - \"2\"\n" {
		t.Errorf("%q", got)
	}
	for output, want := range map[string]string{
		`{"a":1}`: "shows no table", "plain text": "shows text", "": "shows nothing", "[] []": "several results",
	} {
		if got := show(t, output, Asked{Format: "csv"}); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %s", output, got, want)
		}
	}
	if got := show(t, "[]", Asked{Where: "x = 1", Format: "json"}); got != "[]\n" {
		t.Errorf("no rows: %q", got)
	}
}

func TestFormats(t *testing.T) {
	for _, one := range []struct {
		column Column
		cell   any
		want   string
	}{
		{Column{Format: "mac"}, "00-1A.2b:3C4D5E", "00:1a:2b:3c:4d:5e"},
		{Column{Format: "mac"}, "unknown", "unknown"},
		{Column{Format: "bytes"}, "1536", "1.5 KiB"},
		{Column{Format: "bytes"}, "12", "12 B"},
		{Column{Format: "rate"}, "2500000000", "2.5 Gbit/s"},
		{Column{Format: "age"}, "59", "59s"},
		{Column{Format: "age"}, "3700", "1h1m"},
		{Column{Format: "age"}, "200000", "2d7h"},
		{Column{Format: "age"}, "never", "never"},
		{Column{Format: "percent"}, "12.5", "12.5 %"},
		{Column{Unit: "W"}, "7", "7 W"},
		{Column{Unit: "W"}, "", ""},
		{Column{Format: "state"}, "up", "up"},
		{Column{Format: "mac"}, []any{"001A2B3C4D5E", "x"}, "00:1a:2b:3c:4d:5e x"},
	} {
		if got := one.column.format(one.cell); got != one.want {
			t.Errorf("%v %v: %v, want %s", one.column, one.cell, got, one.want)
		}
	}
}

// A condition is read or refused, whatever it is, and a negation is the opposite.
func FuzzWhere(f *testing.F) {
	for _, text := range []string{"vlan >= 10 and (state = up or not name ~ 'x')", "* != \"\"", "((", "a=b=c", "not not", "\xff=\u00a0"} {
		f.Add(text)
	}
	v, err := Read([]byte(ports))
	if err != nil {
		f.Fatal(err)
	}
	table, _ := TableOf(v)
	f.Fuzz(func(t *testing.T, text string) {
		holds, err := table.parseCondition(text)
		if err != nil {
			return
		}
		opposite, err := table.parseCondition("not (" + text + ")")
		if err != nil {
			if len(text)+len("not ()") <= maxCondition {
				t.Fatal(err)
			}
			return
		}
		for _, row := range table.Rows {
			if holds(row) == opposite(row) {
				t.Errorf("%q and its negation are the same for %v", text, row)
			}
		}
	})
}
