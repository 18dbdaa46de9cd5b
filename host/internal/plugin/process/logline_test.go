package process

import (
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ctl.internal/internal/wire"
)

func TestParseLine(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     logLine
	}{
		{"slog", `{"time":"2026-11-20T18:00:00.5Z","level":"WARN","msg":"hello","a":1,"b":"x"}`,
			logLine{Level: slog.LevelWarn, Message: "hello", Structured: true, Attrs: []slog.Attr{slog.Any("a", "1"), slog.String("b", "x")}}},
		{"members of the host", `{"msg":"m","plugin":"other","pid":1,"Logger":"org.ctl.aaa","message":"logged in","version":"9"}`,
			logLine{Level: slog.LevelInfo, Message: "m", Structured: true, Attrs: []slog.Attr{slog.String("plugin_Logger", "org.ctl.aaa"), slog.String("message", "logged in"),
				slog.Any("plugin_pid", "1"), slog.String("plugin_plugin", "other"), slog.String("plugin_version", "9")}}},
		{"what hides or turns text", `{"msg":"a\u2028b\u202ec\u200bd","\u202elevel":1}`,
			logLine{Level: slog.LevelInfo, Message: "a�b�c�d", Structured: true, Attrs: []slog.Attr{slog.Any("�level", "1")}}},
		{"slog with an odd level", `{"level":"INFO+2","msg":"m"}`, logLine{Level: slog.LevelInfo + 2, Message: "m", Structured: true}},
		{"hclog", `{"@level":"trace","@message":"m","@module":"sub","@timestamp":"2026-11-20T18:00:00.500000Z"}`,
			logLine{Level: wire.LevelTrace, Message: "m", Logger: "sub", Structured: true}},
		{"a level that is no string does not kill the host", `{"@level":7,"@message":["x"]}`,
			logLine{Level: slog.LevelInfo, Structured: true, Attrs: []slog.Attr{slog.Any("@level", "7"), slog.Any("@message", "[x]")}}},
		{"plain", "just text", logLine{Level: slog.LevelInfo, Message: "just text"}},
		{"plain with level", "[ERROR] bad", logLine{Level: slog.LevelError, Message: "bad"}},
		{"a panic", "panic: no", logLine{Level: slog.LevelError, Message: "panic: no"}},
		{"half a JSON line", `{"msg":"cut of`, logLine{Level: slog.LevelInfo, Message: `{"msg":"cut of`}},
		{"two documents", `{"msg":"a"} {"msg":"b"}`, logLine{Level: slog.LevelInfo, Message: `{"msg":"a"} {"msg":"b"}`}},
		{"terminal control", "\x1b[2Jgone\a", logLine{Level: slog.LevelInfo, Message: "�[2Jgone�"}},
		{"empty", "", logLine{Level: slog.LevelInfo}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := parseLine([]byte(c.in))
			same := cmp.Comparer(func(a, b slog.Attr) bool { return a.Key == b.Key && a.Value.String() == b.Value.String() })
			if d := cmp.Diff(c.want, got, same, cmpopts.EquateEmpty()); d != "" {
				t.Error(d)
			}
		})
	}
}

func FuzzParseLine(f *testing.F) {
	f.Add([]byte(`{"@level":7,"time":"x"}`))
	f.Add([]byte("[WARN] \xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		l := parseLine(b)
		for _, r := range l.Message {
			if r < ' ' {
				t.Fatalf("control character %q in message", r)
			}
		}
	})
}
