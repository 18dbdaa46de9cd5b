package cache_test

import (
	"testing"

	"ctl.internal/host/internal/aaa/cache"
)

func TestAMapIsBoundedAndForgets(t *testing.T) {
	m := cache.New[int, string](320)
	m.Put(1, "one", nil)
	if v, ok := m.Get(1); !ok || v != "one" {
		t.Fatalf("%q %v", v, ok)
	}
	m.Put(2, "stale", func() bool { return false })
	if _, ok := m.Get(2); ok {
		t.Error("an entry that is no longer good was kept")
	}
	m.Drop(1)
	if _, ok := m.Get(1); ok {
		t.Error("a dropped entry is there")
	}
	for i := range 10_000 {
		m.Put(i, "x", nil)
	}
	kept := 0
	for i := range 10_000 {
		if _, ok := m.Get(i); ok {
			kept++
		}
	}
	if kept == 0 || kept > 320 {
		t.Errorf("%d entries are kept of at most 320", kept)
	}
	m.Clear()
	if _, ok := m.Get(9_999); ok {
		t.Error("an entry is there after Clear")
	}
}
