package realmjwt

import (
	"testing"

	"ctl.internal/sdk/plugintest"
)

func TestConformance(t *testing.T) {
	plugintest.Run(t, plugintest.Program(t, "realm-jwt"))
}
