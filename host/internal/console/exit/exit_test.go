package exit

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"ctl.internal/sdk/fault"
)

func TestOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want Code
	}{
		{nil, OK},
		{errors.New("plain"), Failed},
		{fault.New(fault.InUse, "busy"), Failed},
		{fault.New(fault.Missing, "name"), Usage},
		{fmt.Errorf("wrapped: %w", fault.New(fault.NotFound, "sw1")), NotFound},
		{fault.New(fault.Denied, "no"), Denied},
		{context.DeadlineExceeded, Unavailable},
		{context.Canceled, Interrupted},
		{Silent(Failed), Failed},
	} {
		if got := Of(c.err); got != c.want {
			t.Errorf("%v: got %d, want %d", c.err, got, c.want)
		}
	}
	seen := map[Code]bool{}
	for _, m := range Meanings() {
		if seen[m.Code] || m.Text == "" {
			t.Errorf("code %d stands twice or has no text", m.Code)
		}
		seen[m.Code] = true
	}
}
