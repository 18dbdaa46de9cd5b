package bier

import (
	"errors"

	"ctl.internal/sdk/fault"
)

// ConfigureOutput is the output of every call that configures.
type ConfigureOutput struct {
	Result ConfigureResult `json:"configure-result"`
}

// ConfigureResult says whether a call configured something. Cause is absent on
// success of topology calls, and empty on that of channel calls.
type ConfigureResult struct {
	Result string  `json:"result"`
	Cause  *string `json:"errorCause,omitempty"`
}

// Configured answers for an error of a call that configures. What the caller got
// wrong becomes a FAILURE; trouble of the controller itself stays an error.
func Configured(err error, success *string) (ConfigureOutput, error) {
	if err == nil {
		return ConfigureOutput{ConfigureResult{
			Result: "SUCCESS",
			Cause:  success,
		}}, nil
	}
	if e := (*fault.Error)(nil); errors.As(err, &e) {
		switch e.Kind {
		case fault.Invalid, fault.Missing, fault.NotFound, fault.Exists, fault.InUse:
			err = errors.New(e.Text)
		default:
			return ConfigureOutput{}, err
		}
	}
	text := err.Error()
	return ConfigureOutput{ConfigureResult{
		Result: "FAILURE",
		Cause:  &text,
	}}, nil
}
