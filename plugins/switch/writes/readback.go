package writes

import (
	"context"
	"time"

	"ctl.internal/sdk/host"
)

// ReadBack looks at a switch until it shows what was written: some need a moment. look returns how it
// differs, and ReadBack what it returned last. It ends early when ctx does.
func ReadBack(ctx context.Context, look func() (differs string, err error)) (differs string, err error) {
	for _, pause := range []time.Duration{0, 200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond} {
		host.Pause(ctx, pause)
		switch {
		case ctx.Err() == nil:
		case differs == "": // it was not looked at
			return "", ctx.Err()
		default:
			return differs, nil
		}
		if differs, err = look(); err != nil || differs == "" {
			return "", err
		}
	}
	return differs, nil
}
