package console

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"ctl.internal/sdk/fault"
)

func TestErrorsHaveTheirExitCode(t *testing.T) {
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
		if got := CodeOf(c.err); got != c.want {
			t.Errorf("%v: got %d, want %d", c.err, got, c.want)
		}
	}
}
