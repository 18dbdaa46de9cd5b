package server

import (
	"bytes"
	"strings"
	"testing"
)

func TestWrongUse(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"extra", `ctld: "extra" is no flag, and ctld takes nothing else: what it is to do is typed into ctl, once it runs (see ctld --help)`},
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
