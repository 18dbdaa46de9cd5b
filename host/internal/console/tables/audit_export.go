package tables

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"ctl.internal/host/internal/logs"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// auditExport is audit:export, of the audit in a directory.
func auditExport(dir string) commands.Command {
	return commands.Command{
		Name:    "audit:export",
		Summary: "write the records of the audit, for another machine or program",
		Safe:    true,
		Help: "audit:export >audit.jsonl writes the records as they are, a JSON object a line: audit:verify FILE checks such a copy.\n" +
			"audit:export --as cef --since 24h writes ArcSight's Common Event Format.",
		Options: []commands.Option{
			{
				Name:    "as",
				Help:    "jsonl or cef",
				Type:    commands.String,
				Values:  []string{"jsonl", "cef"},
				Default: "jsonl",
			},
			{
				Name: "since",
				Help: "only records of so long ago at most, such as 24h",
				Type: commands.String,
			},
		},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			since, err := sinceOption(in)
			if err != nil {
				return err
			}
			out := bufio.NewWriter(in.Stdout)
			var failed error
			_, err = logs.VerifyAudit(dir, nil, func(r logs.AuditRecord) bool {
				if r.Time.Before(since) {
					return true
				}
				line := []byte(formatCEF(r))
				if in.Option("as") != "cef" {
					if line, failed = json.Marshal(r); failed != nil {
						return false
					}
				}
				_, failed = out.Write(append(line, '\n'))
				return failed == nil && ctx.Err() == nil
			})
			switch {
			case failed != nil:
				return failed
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil:
				_ = out.Flush()
				return fault.Wrap(fault.Invalid, err, "%v", err)
			}
			return out.Flush()
		},
	}
}

// sinceOption reads --since.
func sinceOption(in *commands.Invocation) (time.Time, error) {
	text := in.Option("since")
	if text == "" {
		return time.Time{}, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return time.Time{}, fault.New(
			fault.Invalid,
			"--since %q is not a duration such as 90m or 24h",
			text,
		)
	}
	return time.Now().Add(-d), nil
}

// Severities of the Common Event Format, 0 to 10.
const (
	cefPassed  = 3
	cefRefused = 6
	cefFailed  = 5
)

var (
	cefHeader    = strings.NewReplacer(`\`, `\\`, `|`, `\|`, "\n", " ", "\r", " ")
	cefExtension = strings.NewReplacer(`\`, `\\`, `=`, `\=`, "\n", `\n`, "\r", `\r`)
)

// formatCEF is a record in the Common Event Format.
func formatCEF(r logs.AuditRecord) string {
	severity := cefFailed
	switch r.Outcome {
	case "ok":
		severity = cefPassed
	case "refused":
		severity = cefRefused
	}
	what := cefHeader.Replace(r.What)
	text := fmt.Sprintf(
		"CEF:0|ctl|ctld|1|%s|%s|%d|externalId=%d rt=%d",
		what,
		what,
		severity,
		r.Seq,
		r.Time.UnixMilli(),
	)
	for _, f := range [][2]string{{"suser", r.Who}, {"src", r.Address}, {"outcome", r.Outcome}, {"requestMethod", r.Method}, {"request", r.Resource},
		{"cs1", r.Request}, {"cs2", r.Realm}, {"cs3", r.Credential}, {"msg", r.Object}} {
		if f[1] == "" {
			continue
		}
		text += " " + f[0] + "=" + cefExtension.Replace(f[1])
		if label := cefLabels[f[0]]; label != "" {
			text += " " + f[0] + "Label=" + label
		}
	}
	if r.Count > 0 {
		text += fmt.Sprintf(" cnt=%d", r.Count)
	}
	return text
}

var cefLabels = map[string]string{
	"cs1": "request-id",
	"cs2": "realm",
	"cs3": "session",
}
