package server

import (
	"errors"
	"testing"

	"ctl.internal/host/internal/keys/keystore"
	"ctl.internal/sdk/fault"
)

func TestBrokenKeystoresAreNotTakenForNone(t *testing.T) {
	for _, c := range []struct {
		err  error
		want fault.Kind
	}{{keystore.ErrOff, fault.Unavailable}, {errors.New("damaged"), fault.Internal}} {
		if _, err := (&certificates{err: c.err}).Trust(t.Context()); fault.KindOf(err) != c.want {
			t.Errorf("%v: %v, want %v", c.err, fault.KindOf(err), c.want)
		}
	}
}
