package plugin

import (
	"time"

	"ctl.internal/sdk/fault"
)

// UnavailableError says that a plugin cannot be reached now and when to ask again.
// It unwraps to a *fault.Error of kind Unavailable.
type UnavailableError struct {
	fault *fault.Error
	wait  time.Duration
}

// Error returns the sentence for the user.
func (e *UnavailableError) Error() string { return e.fault.Error() }

// Unwrap returns the fault.
func (e *UnavailableError) Unwrap() error { return e.fault }

// RetryAfter is when another attempt may succeed; at least a second, as HTTP has it.
func (e *UnavailableError) RetryAfter() time.Duration { return max(e.wait, time.Second) }

func unavailable(wait time.Duration, format string, args ...any) *UnavailableError {
	return &UnavailableError{fault: fault.New(fault.Unavailable, format, args...), wait: wait}
}
