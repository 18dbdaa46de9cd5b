package plugin

import (
	"os"
	"strings"

	"ctl.internal/host/internal/plugin/process"
	"ctl.internal/sdk"
)

// attachment returns where a plugin under a debugger listens, nil when the
// environment names none.
func attachment(name string) (*process.Attach, error) {
	text, ok := os.LookupEnv(sdk.ReattachVariable(name))
	if !ok || text == "" {
		return nil, nil
	}
	return process.ParseAttach(name, text)
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
