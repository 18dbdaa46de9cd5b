package restconf

import (
	"net/http"
	"time"

	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/sdk/fault"
)

// conditions evaluates If-Match, If-None-Match and If-Unmodified-Since of a write
// against the draft that the write works on, so that nothing comes in between.
func (x *exchange) conditions(d *tree.Draft, p tree.Path) error {
	h := x.r.Header
	match, none, since := h.Values("If-Match"), h.Values("If-None-Match"), h.Get("If-Unmodified-Since")
	if len(match)+len(none) == 0 && since == "" {
		return nil
	}
	at, err := d.Load(p)
	if err != nil {
		return err
	}
	m, err := newMark(d)
	if err != nil {
		return err
	}
	failed := func(text string) error {
		return &statusError{fault.At(fault.Invalid, p.String(), "%s", text), http.StatusPreconditionFailed, "operation-failed"}
	}
	switch {
	case len(match) > 0 && (at == nil || !matches(match, m.tag)):
		return failed("the data is not in the state that If-Match names")
	case len(none) > 0 && at != nil && matches(none, m.tag):
		return failed("the data is in the state that If-None-Match excludes")
	case len(match) == 0 && since != "":
		t, err := http.ParseTime(since)
		if err == nil && m.changed.Truncate(time.Second).After(t) {
			return failed("the data may have changed since then")
		}
	}
	return nil
}
