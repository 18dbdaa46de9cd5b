package ctlclient

import (
	"encoding/json"
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
	text := `[{"switch":"sw1","change":[{"change":"making VLAN 10","detail":"tagged port1"},{"change":"setting port 2"}]},{"switch":"sw2","problem":["no such port"]}]`
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatal(err)
	}
	want := []string{"+ sw1: making VLAN 10 (tagged port1)", "+ sw1: setting port 2", "! sw2: no such port"}
	if got := planLines(all); !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}
