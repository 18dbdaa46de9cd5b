package channel

import (
	"bytes"
	"testing"
)

// What waits for one switch is bounded; what was taken makes room again, and after
// the last message nothing follows.
func TestOutbox(t *testing.T) {
	o := newOutbox(10)
	if !o.putFrame([]byte("12345")) || !o.putFrame([]byte("67890")) || o.putFrame([]byte("x")) {
		t.Error("the bound of ten bytes does not hold")
	}
	full, last := o.takeQueued(nil)
	if string(full) != "1234567890" || last {
		t.Errorf("%q %v", full, last)
	}
	if !o.putFrame([]byte("abc")) {
		t.Error("no room after all was taken")
	}
	o.finish()
	if !o.putFrame([]byte("late")) {
		t.Error("a message after the last is no fault of the switch")
	}
	if full, last = o.takeQueued(full); string(full) != "abc" || !last {
		t.Errorf("%q %v", full, last)
	}
}

// A burst does not stay in memory for ever.
func TestOutboxGivesBack(t *testing.T) {
	o := newOutbox(1 << 20)
	o.putFrame(bytes.Repeat([]byte("x"), 1<<19))
	full, _ := o.takeQueued(nil)
	o.takeQueued(full)
	if o.putFrame([]byte("y")); cap(o.buf) > keep {
		t.Errorf("an idle connection keeps %d bytes", cap(o.buf))
	}
}
