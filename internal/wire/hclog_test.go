package wire

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/hashicorp/go-hclog"
)

// What a library logs with hclog arrives as if it had been logged with slog.
func TestHCLogWritesToSlog(t *testing.T) {
	for name, c := range map[string]struct {
		most slog.Level
		log  func(hclog.Logger)
		want string
	}{
		"levels and pairs": {slog.LevelError, func(l hclog.Logger) { l.Warn("slow", "ms", 7) }, "level=WARN msg=slow ms=7\n"},
		"a trace":          {slog.LevelError, func(l hclog.Logger) { l.Trace("in") }, "level=DEBUG-4 msg=in\n"},
		"a format":         {slog.LevelError, func(l hclog.Logger) { l.Info("x", "v", hclog.Fmt("%03d", 5)) }, "level=INFO msg=x v=005\n"},
		"names and With":   {slog.LevelError, func(l hclog.Logger) { l.Named("a").Named("b").With("k", 1).Error("x") }, "level=ERROR msg=x k=1 module=a.b\n"},
		"at most a level":  {slog.LevelDebug, func(l hclog.Logger) { l.Error("x") }, "level=DEBUG msg=x\n"},
		"off":              {slog.LevelError, func(l hclog.Logger) { l.Log(hclog.Off, "x") }, ""},
		"a standard logger": {slog.LevelError, func(l hclog.Logger) {
			l.StandardLogger(&hclog.StandardLoggerOptions{InferLevels: true}).Print("[WARN] x")
		}, "level=WARN msg=x\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			h := slog.NewTextHandler(&b, &slog.HandlerOptions{Level: LevelTrace, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == slog.TimeKey {
					return slog.Attr{}
				}
				return a
			}})
			c.log(HCLog(slog.New(h), c.most))
			if b.String() != c.want {
				t.Errorf("got %q, want %q", b.String(), c.want)
			}
		})
	}
	quiet := HCLog(slog.New(slog.NewTextHandler(&bytes.Buffer{}, &slog.HandlerOptions{Level: slog.LevelWarn})), slog.LevelError)
	if quiet.IsInfo() || !quiet.IsWarn() || quiet.GetLevel() != hclog.Warn {
		t.Errorf("the level of slog is not followed: %v", quiet.GetLevel())
	}
}
