package tables

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"strconv"
	"strings"

	"ctl.internal/host/internal/logs"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

func (t logTable) filterOptions() []commands.Option {
	return []commands.Option{
		{
			Name:    "number",
			Short:   "n",
			Help:    "how many records, the newest",
			Type:    commands.Int,
			Default: "50",
		},
		{
			Name:  "pattern",
			Short: "p",
			Help:  "only records whose text matches this regular expression",
		},
		{
			Name:   "level",
			Short:  "l",
			Help:   "only records of this level or above",
			Values: settableLevels(),
		},
		{
			Name:     "plugin",
			Help:     "only records of this plugin",
			Complete: eachName(t.r.Names, loggingPlugin),
		},
		boolOption("own", "o", "also the records of your own commands"),
		boolOption("no-color", "", "no colours, also on a terminal"),
		boolOption("raw", "r", "show the whole records, as in the file"),
	}
}

// parseLogFilter reads the filter of log:display and log:tail.
func parseLogFilter(in *commands.Invocation) (keep func(logs.Entry) bool, n int, err error) {
	n, err = strconv.Atoi(in.Option("number"))
	if err != nil || n < 0 {
		return nil, 0, fault.At(
			fault.Invalid,
			in.Name,
			"the number of records is 0 or more, not %s",
			in.Option("number"),
		)
	}
	low := slog.Level(-1 << 20)
	if l := in.Option("level"); l != "" {
		if low, err = logs.ParseLevel(l); err != nil {
			return nil, 0, fault.At(fault.Invalid, in.Name, "%v", err)
		}
	}
	re, err := regexp.Compile(in.Option("pattern"))
	if err != nil {
		return nil, 0, fault.At(
			fault.Invalid,
			in.Name,
			"the pattern %q cannot be read: %v",
			in.Option("pattern"),
			err,
		)
	}
	logger := in.Arg("logger")
	if p := in.Option("plugin"); p != "" {
		if logger != "" {
			return nil, 0, fault.At(fault.Invalid, in.Name, "give --plugin or a logger, not both")
		}
		logger = pluginLoggers + p
	}
	own := `"user":` + strconv.Quote(in.Caller.User)
	if in.Flag("own") || strings.HasPrefix(logger, auditLogger) {
		own = ""
	}
	return func(e logs.Entry) bool {
		under := logger == "" || logger == logs.Root || e.Logger == logger || strings.HasPrefix(e.Logger, logger+".")
		if own != "" && e.Logger == auditLogger && strings.Contains(e.JSON, own) {
			return false
		}
		return under && e.Level >= low && (re.MatchString(e.Message) || re.MatchString(e.JSON))
	}, n, nil
}

// formatLogEntry is a record as a line: with its attributes after the message, or whole.
func formatLogEntry(in *commands.Invocation, e logs.Entry) string {
	if in.Format == "json" || in.Flag("raw") {
		return logs.Printable(e.JSON)
	}
	line := e.Text() + logs.Printable(formatAttributes(e.JSON))
	if in.Width == 0 || in.Flag("no-color") {
		return line
	}
	switch { // SGR of ECMA-48
	case e.Level >= slog.LevelError:
		return "\x1b[31m" + line + "\x1b[0m"
	case e.Level >= slog.LevelWarn:
		return "\x1b[33m" + line + "\x1b[0m"
	case e.Level < slog.LevelInfo:
		return "\x1b[2m" + line + "\x1b[0m"
	}
	return line
}

// Loggers of plugins and of the commands of the console.
const (
	pluginLoggers = "plugin."
	auditLogger   = "org.ctl.console.audit"
)

// loggingPlugin is the plugin whose logger a name is.
func loggingPlugin(logger string) (string, bool) {
	name, ok := strings.CutPrefix(logger, pluginLoggers)
	return name, ok && !strings.Contains(name, ".")
}

// formatAttributes are the members of a record beyond those of every record, as
// " name=value" in their order.
func formatAttributes(record string) string {
	dec := json.NewDecoder(strings.NewReader(record))
	t, err := dec.Token()
	if err != nil || t != json.Delim('{') {
		return ""
	}
	var b strings.Builder
	for dec.More() {
		var value json.RawMessage
		name, err := dec.Token()
		if err != nil || dec.Decode(&value) != nil {
			break
		}
		switch name {
		case "time", "level", "msg", "logger":
			continue
		}
		var plain string
		if json.Unmarshal(value, &plain) == nil &&
			plain != "" &&
			!strings.ContainsAny(plain, " \t\n\"=") {
			value = json.RawMessage(plain)
		}
		fmt.Fprintf(&b, " %s=%s", name, value)
	}
	return b.String()
}

func (t logTable) filterRecent(keep func(logs.Entry) bool, n int) []logs.Entry {
	var out []logs.Entry
	for _, e := range t.r.Recent(0) {
		if keep(e) {
			out = append(out, e)
		}
	}
	return out[max(0, len(out)-n):]
}

func (t logTable) displayLog(_ context.Context, in *commands.Invocation) error {
	keep, n, err := parseLogFilter(in)
	if err != nil {
		return err
	}
	entries := t.filterRecent(keep, n)
	if in.Format == "json" {
		raw := []json.RawMessage{}
		for _, e := range entries {
			raw = append(raw, json.RawMessage(e.JSON))
		}
		return in.Emit(raw, nil)
	}
	for _, e := range entries {
		in.Printf("%s\n", formatLogEntry(in, e))
	}
	return nil
}

func (t logTable) tailLog(ctx context.Context, in *commands.Invocation) error {
	keep, n, err := parseLogFilter(in)
	if err != nil {
		return err
	}
	for _, e := range t.filterRecent(keep, n) {
		in.Printf("%s\n", formatLogEntry(in, e))
	}
	return t.r.Follow(ctx, func(e logs.Entry, lost uint64) error {
		if lost > 0 {
			in.Printf("… %d records were too fast to show\n", lost)
		}
		if keep(e) {
			in.Printf("%s\n", formatLogEntry(in, e))
		}
		return ctx.Err()
	})
}
