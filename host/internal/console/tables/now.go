package tables

import (
	"context"
	"strings"
	"time"

	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// Trouble is a row of system:now.
type Trouble struct {
	ID, Severity, Kind, Subject, Cause, Remedy string
	Since                                      time.Time
	State                                      string // open, or who acknowledged or silenced it
	Open                                       bool
	Own                                        bool // of the controller, not of the network
}

// severityWarning is that of what is not wrong yet.
const severityWarning = "warning"

// Now is the list of what is wrong. The caller is in the context.
type Now struct {
	Troubles    func(context.Context) ([]Trouble, error)
	Acknowledge func(ctx context.Context, id, note string, withdraw bool) error
	Silence     func(ctx context.Context, id, note string, t time.Duration, withdraw bool) error
}

// NowCommands are system:now and what is done with a trouble.
func NowCommands(n Now) []commands.Command {
	id := commands.Argument{
		Name:     "id",
		Help:     "of the trouble, as system:now lists it",
		Required: true,
	}
	note := commands.Option{Name: "note", Short: "n", Help: "why, for others"}
	withdraw := boolOption("withdraw", "w", "take it back")
	return []commands.Command{
		{
			Name:    "system:now",
			Summary: "show what is wrong now: plugins, silent switches, lost links, certificates and so on",
			Safe:    true,
			Run:     n.showTroubles,
			Help: "The newest first, with the cause and what to do. The exit code is 1 while a trouble, not a warning alone, is neither acknowledged nor silenced.\n" +
				"ctl now is the same.",
			Options: []commands.Option{
				boolOption("own", "o", "only those of the controller and its plugins, not of the network"),
			},
		},
		{
			Name:      "system:acknowledge",
			Summary:   "say that somebody knows of a trouble, until it is over",
			Run:       n.acknowledgeTrouble,
			Help:      "system:acknowledge 0123456789abcdef --note \"new cable ordered\"",
			Arguments: []commands.Argument{id},
			Options:   []commands.Option{note, withdraw},
		},
		{
			Name:      "system:silence",
			Summary:   "keep a trouble out of all counts for a while, also when it comes again",
			Run:       n.silenceTrouble,
			Help:      "system:silence 0123456789abcdef --for 8h --note maintenance",
			Arguments: []commands.Argument{id},
			Options: []commands.Option{note, withdraw, {
				Name:  "for",
				Short: "f",
				Help:  "how long, such as 30m or 8h; 1h without it",
			}},
		},
	}
}

func (n Now) showTroubles(ctx context.Context, in *commands.Invocation) error {
	all, err := n.Troubles(caller.With(ctx, in.Caller))
	if err != nil {
		return err
	}
	out := &commands.Table{
		Empty: "nothing is wrong",
		Columns: []commands.Column{
			{Title: "Since", Key: "since"},
			{Title: "Severity", Key: "severity"},
			{Title: "Kind", Key: "kind"},
			{Title: "Subject", Key: "subject"},
			{Title: "Cause", Key: "cause"},
			{Title: "Remedy", Key: "remedy"},
			{Title: "State", Key: "state"},
			{Title: "ID", Key: "id"},
		},
	}
	open := false
	for i := range all {
		t := &all[i]
		if in.Flag("own") && !t.Own {
			continue
		}
		out.Add(formatTime(t.Since), t.Severity, t.Kind, t.Subject, t.Cause, t.Remedy, t.State, t.ID)
		open = open || t.Open && t.Severity != severityWarning
	}
	if open {
		return emitFindings(in, out)
	}
	return in.Emit(out, nil)
}

func (n Now) acknowledgeTrouble(ctx context.Context, in *commands.Invocation) error {
	ctx = caller.With(ctx, in.Caller)
	err := n.Acknowledge(ctx, in.Arg("id"), in.Option("note"), in.Flag("withdraw"))
	return emitMark(in, err, "acknowledged")
}

func (n Now) silenceTrouble(ctx context.Context, in *commands.Invocation) error {
	text := strings.TrimSpace(in.Option("for"))
	d := time.Hour
	if text != "" {
		var err error
		if d, err = time.ParseDuration(text); err != nil || d < time.Minute || d > 30*24*time.Hour {
			return fault.New(fault.Invalid, "--for %q is no time between 1m and 720h, such as 8h", text)
		}
	}
	ctx = caller.With(ctx, in.Caller)
	err := n.Silence(ctx, in.Arg("id"), in.Option("note"), d, in.Flag("withdraw"))
	return emitMark(in, err, "silenced")
}

// emitMark says what was done with a trouble.
func emitMark(in *commands.Invocation, err error, done string) error {
	if err != nil {
		return err
	}
	if in.Flag("withdraw") {
		done = "no longer " + done
	}
	id := in.Arg("id")
	return in.Emit(map[string]string{"id": id, "state": done}, func() string {
		return "the trouble " + id + " is " + done + "\n"
	})
}
