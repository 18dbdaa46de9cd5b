package server

import (
	"bytes"
	"strings"
	"testing"
)

func TestWrongUse(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"extra", `ctld: unexpected argument "extra": ctld takes only flags; commands are run with ctl (see ctld --help)`},
		{"--htp :0", `ctld: unknown flag: --htp (did you mean "http"?) (see ctld --help)`},
		{"--nonsense", `ctld: unknown flag: --nonsense (see ctld --help)`},
		{"--http", `ctld: flag needs an argument: --http (see ctld --help)`},
	} {
		var out, errs bytes.Buffer
		if code := Main(strings.Fields(c.args), &out, &errs); code != exitUsage || strings.TrimSpace(errs.String()) != c.want {
			t.Errorf("%s: code %d, %s", c.args, code, errs.String())
		}
	}
}
