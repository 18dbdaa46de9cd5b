package tables

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"ctl.internal/host/internal/logs"
	"ctl.internal/internal/console"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// AuditCommands are audit:*, on the audit in a directory; heads returns what of its records is kept elsewhere.
func AuditCommands(
	dir string,
	heads func(context.Context) (logs.AuditHeads, error),
) []commands.Command {
	return []commands.Command{auditExport(dir), {
		Name:    "audit:verify",
		Summary: "check that no record of the audit was changed or removed",
		Safe:    true,
		Help: "The error names the first line that does not follow the one before of its class. What was removed at the beginning or the\n" +
			"end is noticed by the numbers and hashes that are sealed in the datastore every 10 seconds. With FILE a copy is\n" +
			"checked: the output of audit:export, or a file of log/audit.",
		Arguments: []commands.Argument{{
			Name: "file",
			Help: "a copy; absent = the audit itself",
			Type: commands.File,
		}},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			var span auditSpan
			path := in.Arg("file")
			var sealed logs.AuditHeads
			if path == "" {
				path = dir
				var err error
				if sealed, err = heads(ctx); err != nil {
					return err
				}
			}
			classes := map[string]logs.AuditHead{}
			n, err := logs.VerifyAudit(path, sealed, func(r logs.AuditRecord) bool {
				span.add(r)
				class := cmp.Or(r.Class, logs.ClassChange)
				one := classes[class]
				classes[class] = logs.AuditHead{
					First: cmp.Or(one.First, r.Seq),
					Seq:   r.Seq,
				}
				return true
			})
			if err != nil {
				return fault.Wrap(
					fault.Invalid,
					err,
					"%v (the %d records before it are valid)",
					err,
					n,
				)
			}
			shown := []field{
				{"Records", fmt.Sprint(n)},
				{"Numbers", fmt.Sprintf("%d to %d", span.first, span.last)},
				{"From", formatTime(span.from)},
				{"To", formatTime(span.to)},
			}
			numbers := map[string]any{}
			for _, class := range slices.Sorted(maps.Keys(classes)) {
				c := classes[class]
				shown = append(
					shown,
					field{"Class " + class, fmt.Sprintf("records %d to %d", c.First, c.Seq)},
				)
				numbers[class] = map[string]uint64{
					"first": c.First,
					"last":  c.Seq,
				}
			}
			if span.setBack > 0 {
				shown = append(
					shown,
					field{"Clock set back", fmt.Sprintf("%d times", span.setBack)},
				)
			}
			report := map[string]any{
				"records":        n,
				"first":          span.first,
				"last":           span.last,
				"since":          span.from,
				"until":          span.to,
				"clock-set-back": span.setBack,
				"classes":        numbers,
			}
			return in.Emit(report, func() string { return formatFields(shown) })
		},
	}, {
		Name:    "audit:show",
		Summary: "show changes and refusals: who did what",
		Safe:    true,
		Help:    "audit:show --since 24h --who ann@sdn\naudit:show --what grant --format json",
		Options: []commands.Option{
			{
				Name: "since",
				Help: "only records of so long ago at most, such as 24h",
				Type: commands.String,
			},
			{
				Name: "who",
				Help: "only of this user, with or without domain, or plugin:NAME",
				Type: commands.String,
			},
			{
				Name: "what",
				Help: "only records whose action or object holds this text",
				Type: commands.String,
			},
		},
		Run: func(_ context.Context, in *commands.Invocation) error {
			since, err := sinceOption(in)
			if err != nil {
				return err
			}
			who, what := in.Option("who"), in.Option("what")
			out := &commands.Table{
				Empty: "No records",
				Columns: []commands.Column{{
					Title: "Number",
					Key:   "seq",
					Right: true,
				}, {Title: "Time", Key: "time"},
					{
						Title: "Who",
						Key:   "who",
					}, {
						Title: "What",
						Key:   "what",
					}, {
						Title: "Object",
						Key:   "object",
					}, {
						Title: "Outcome",
						Key:   "outcome",
					}, {Title: "Address", Key: "address"}},
			}
			_, err = logs.VerifyAudit(dir, nil, func(r logs.AuditRecord) bool {
				if r.Time.Before(since) ||
					who != "" && r.Who != who && !strings.HasPrefix(r.Who, who+"@") ||
					!strings.Contains(r.What+" "+r.Object, what) {
					return true
				}
				out.Add(
					r.Seq,
					timeCell(in, r.Time),
					console.Printable(r.Who),
					r.What,
					console.Printable(r.Object),
					r.Outcome,
					r.Address,
				)
				return true
			})
			if e := in.Emit(out, nil); e != nil {
				return e
			}
			if err != nil {
				return fault.Wrap(fault.Invalid, err, "%v", err)
			}
			return nil
		},
	}}
}

// auditSpan is what records of the audit cover. Their times need not be in order: a clock may have been set.
type auditSpan struct {
	first, last uint64 // numbers
	from, to    time.Time
	newest      time.Time // of the record before
	setBack     int       // how often a record is older than the one before it, by a second or more
}

func (s *auditSpan) add(r logs.AuditRecord) {
	if s.last == 0 {
		s.first, s.from, s.to = r.Seq, r.Time, r.Time
	} else if r.Time.Before(s.newest.Add(-time.Second)) { // acts at the same time are recorded in any order
		s.setBack++
	}
	s.last, s.newest = r.Seq, r.Time
	if r.Time.Before(s.from) {
		s.from = r.Time
	}
	if r.Time.After(s.to) {
		s.to = r.Time
	}
}

// SnapshotCommands are snapshot:*, for ctl at the machine. save writes a snapshot.
func SnapshotCommands(save func(ctx context.Context, w io.Writer, progress func(done, total int64)) error) []commands.Command {
	return []commands.Command{{
		Name:    "snapshot:save",
		Summary: "write a snapshot of all data to the output, for `ctl snapshot save FILE`",
		Help:    "ctl snapshot save FILE calls this; the output is an archive, not text. It opens all secrets, so it goes to\nthe local console only.",
		Safe:    true,
		Run: func(ctx context.Context, in *commands.Invocation) error {
			if in.Caller.Address != "" || in.Caller.User != "local" {
				return fault.New(
					fault.Denied,
					"a snapshot holds all secrets: take it on the machine of the controller, with ctl snapshot save FILE",
				)
			}
			if in.Width > 0 {
				return fault.New(
					fault.Invalid,
					"the output is an archive: use ctl snapshot save FILE",
				)
			}
			return save(ctx, in.Stdout, func(done, total int64) {
				in.Progress(commands.Progress{
					Text:  "snapshot, KiB",
					Done:  done >> 10,
					Total: total >> 10,
				})
			})
		},
	}}
}
