package ovsdb

import (
	"strconv"

	"github.com/ovn-kubernetes/libovsdb/ovsdb"
)

// A row comes from outside: a value of another type than expected is as if unset.

func text(v any) string {
	s, _ := v.(string)
	return s
}

func uuid(v any) string {
	u, _ := v.(ovsdb.UUID)
	return u.GoUUID
}

// set is the values of a column that may have several; a single one stands alone.
func set(v any) []any {
	if s, ok := v.(ovsdb.OvsSet); ok {
		return s.GoSet
	}
	if v == nil {
		return nil
	}
	return []any{v}
}

func first(v any) any {
	if s := set(v); len(s) > 0 {
		return s[0]
	}
	return nil
}

func integer(v any) int {
	switch n := first(v).(type) {
	case float64:
		return int(n)
	case int:
		return n
	}
	return 0
}

func truth(v any) bool {
	b, _ := first(v).(bool)
	return b
}

func integers(v any) (out []int) {
	for _, x := range set(v) {
		if f, ok := x.(float64); ok {
			out = append(out, int(f))
		}
	}
	return out
}

func uuids(v any) (out []string) {
	for _, x := range set(v) {
		if u := uuid(x); u != "" {
			out = append(out, u)
		}
	}
	return out
}

// texts is a map column of strings.
func texts(v any) map[string]string {
	m, ok := v.(ovsdb.OvsMap)
	if !ok {
		return nil
	}
	out := map[string]string{}
	for k, v := range m.GoMap {
		if k, ok := k.(string); ok {
			out[k] = text(v)
		}
	}
	return out
}

// hexadecimal reads digits without a prefix; 0 when they are none.
func hexadecimal(s string) uint64 {
	n, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		return 0
	}
	return n
}
