package ctlclient

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestWhatDiffersIsShown(t *testing.T) {
	now := map[string]any{"m:a": []any{map[string]any{"id": 1.0, "n": "x"}, map[string]any{"id": 2.0}}}
	then := map[string]any{"m:a": []any{map[string]any{"id": 1.0, "n": "y"}, map[string]any{"id": 2.0}}}
	if got, want := strings.Join(changedLines(indentedJSON(now), indentedJSON(then)), "\n"), `-       "n": "x"`+"\n"+`+       "n": "y"`; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := changedLines(indentedJSON(now), indentedJSON(now)); len(got) > 0 {
		t.Errorf("no change: %v", got)
	}
	if got := changedLines(nil, indentedJSON([]any{1.0})); !reflect.DeepEqual(got, []string{"+ [", "+   1", "+ ]"}) {
		t.Errorf("something new: %q", got)
	}
	// A list without entries is none.
	if !reflect.DeepEqual(comparableValue(map[string]any{"a": 1.0, "m:b": []any{}}), comparableValue(map[string]any{"a": 1.0})) {
		t.Error("an empty list counts as a change")
	}
	// Other names of the same, and entries in another order, are no change.
	if !reflect.DeepEqual(comparableValue(map[string]any{"m:a": []any{2.0, "1"}}), comparableValue(map[string]any{"a": []any{1.0, 2.0}})) {
		t.Error("a name without its module, or a 64-bit number, counts as a change")
	}
}

func TestPlanLines(t *testing.T) {
	var all []plannedSwitch
	text := `[{"switch":"sw1","change":[{"change":"making VLAN 10","detail":"tagged port1"},{"change":"setting port 2"}]},{"switch":"sw2","problem":["no such port"],"risk":["it leads on"]}]`
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatal(err)
	}
	want := []string{"+ sw1: making VLAN 10 (tagged port1)", "+ sw1: setting port 2", "! sw2: no such port",
		"! sw2: only with force: it leads on", "! only with force: VLAN 10 is in parts"}
	if got := planLines(all, []string{"VLAN 10 is in parts"}); !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}

// A plan is handed on as it is written: no date, number or alias becomes another text.
func TestPlanIsHandedOnAsWritten(t *testing.T) {
	const file = "data: {/rests/data/x: &v [10, 020]}\n" +
		"plan:\n  switches:\n  - switch: sw1\n    ports:\n    - {port: 010, tagged: *v, description: 2026-11-28}\n" +
		"    - &p {port: 1_0, state: \"up\"}\n    - *p\n"
	d, err := readDesired("-", strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	want := planText("switches:\n    - switch: sw1\n      ports:\n        - {port: 010, tagged: [10, 020], description: 2026-11-28}\n" +
		"        - {port: 1_0, state: \"up\"}\n        - {port: 1_0, state: \"up\"}\n")
	if got := d[0].content["plan"]; got != want {
		t.Errorf("got\n%v\nwant\n%v", got, want)
	}
	var bomb strings.Builder
	bomb.WriteString("plan:\n  a0: &a0 [x, x, x, x, x, x, x, x]\n")
	for i := range 8 {
		fmt.Fprintf(&bomb, "  a%d: &a%d [%s*a%d]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 7), i)
	}
	if _, err := readDesired("-", strings.NewReader(bomb.String())); err == nil {
		t.Error("a plan of very many aliases is read")
	}
}
