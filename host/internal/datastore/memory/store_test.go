package memory

import (
	"testing"

	"go.uber.org/goleak"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/conformance"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	conformance.Run(t, func(_ *testing.T, history int) datastore.Store { return New(Options{History: history}) })
}
