package ovsdb

import (
	"maps"
	"slices"
	"strconv"
)

// A value of a column is a number, a text, a truth value, or an array of a tag and a content: ["uuid", ID],
// ["set", [VALUE…]], ["map", [[KEY, VALUE]…]] (RFC 7047, 5.1). It comes from outside: one of another type than
// expected is as if unset.

// taggedValue is the content of a value with a tag, nil of all others.
func taggedValue(v any, tag string) any {
	if a, _ := v.([]any); len(a) == 2 && a[0] == tag {
		return a[1]
	}
	return nil
}

func ofUUID(id string) any { return []any{"uuid", id} }

func ofSet(values ...any) any {
	return []any{"set", append([]any{}, values...)}
}

func ofMap(m map[string]string) any {
	pairs := []any{}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		pairs = append(pairs, []any{k, m[k]})
	}
	return []any{"map", pairs}
}

func stringValue(v any) string {
	s, _ := v.(string)
	return s
}

func uuidValue(v any) string {
	return stringValue(taggedValue(v, "uuid"))
}

// setValues is the values of a column that may have several; a single one stands alone.
func setValues(v any) []any {
	if s, ok := taggedValue(v, "set").([]any); ok {
		return s
	}
	if v == nil {
		return nil
	}
	return []any{v}
}

func firstValue(v any) any {
	if s := setValues(v); len(s) > 0 {
		return s[0]
	}
	return nil
}

func intValue(v any) int {
	f, _ := firstValue(v).(float64)
	return int(f)
}

func boolValue(v any) bool {
	b, _ := firstValue(v).(bool)
	return b
}

func intValues(v any) (out []int) {
	for _, x := range setValues(v) {
		if f, ok := x.(float64); ok {
			out = append(out, int(f))
		}
	}
	return out
}

func uuidValues(v any) (out []string) {
	for _, x := range setValues(v) {
		if u := uuidValue(x); u != "" {
			out = append(out, u)
		}
	}
	return out
}

// stringMap is a map column of strings.
func stringMap(v any) map[string]string {
	pairs, ok := taggedValue(v, "map").([]any)
	if !ok {
		return nil
	}
	out := map[string]string{}
	for _, p := range pairs {
		if pair, _ := p.([]any); len(pair) == 2 {
			if k, ok := pair[0].(string); ok {
				out[k] = stringValue(pair[1])
			}
		}
	}
	return out
}

// parseHex reads digits without a prefix; 0 when they are not digits.
func parseHex(s string) uint64 {
	n, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		return 0
	}
	return n
}
