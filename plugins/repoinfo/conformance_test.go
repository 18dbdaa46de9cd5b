package repoinfo

import (
	"testing"

	"ctl.internal/sdk/plugintest"
)

func TestConformance(t *testing.T) {
	plugintest.Run(t, plugintest.Program(t, "repoinfo"), plugintest.WithConfig(object{"clones": t.TempDir(), "mirror": object{"interval": "0s"}}))
}
