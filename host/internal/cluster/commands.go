package cluster

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// Tokens writes a token for joining into a file and returns its path and what to look out
// for.
type Tokens func(file string) (path string, warnings []string, err error)

// Commands are cluster:*.
func (n *Node) Commands(tokens Tokens) []commands.Command {
	return []commands.Command{n.membersCommand(), n.statusCommand(), n.stepDownCommand(), tokenCommand(tokens)}
}

func (n *Node) membersCommand() commands.Command {
	return commands.Command{
		Name:    "cluster:members",
		Summary: "list the nodes of the cluster that are alive",
		Safe:    true,
		Help: "Lag is how many transactions a node has not seen yet that another one has. A node that does not answer has none.\n\n" +
			"A node joins with one command: ctld --home DIR --join FILE, where FILE is what cluster:token made on a node of the cluster.",
		Run: func(ctx context.Context, in *commands.Invocation) error {
			s := n.Status(ctx)
			out := &commands.Table{
				Empty: "No node has a lease: the store does not answer",
				Columns: []commands.Column{
					{
						Title: "Node",
						Key:   "node",
					}, {
						Title: "Host",
						Key:   "host",
					}, {
						Title: "Address",
						Key:   "address",
					}, {Title: "Version", Key: "version"},
					{
						Title: "Since",
						Key:   "since",
					}, {
						Title: "Roles",
						Key:   "roles",
						Right: true,
					}, {
						Title: "Lag",
						Key:   "lag",
						Right: true,
					}, {
						Title: "Clock",
						Key:   "clock",
						Right: true,
					}, {Title: "", Key: "self"}},
			}
			for _, m := range s.Members {
				var since, self any = formatLocalTime(m.Started), map[bool]string{true: "(this)"}[m.Self]
				if in.Format == "json" {
					since, self = m.Started, m.Self
				}
				out.Add(
					m.ID,
					m.Host,
					cmp.Or(m.Address, "-"),
					m.Version,
					since,
					len(m.Roles),
					revisionLag(s, m),
					formatClockOffset(m),
					self,
				)
			}
			return in.Emit(out, nil)
		},
	}
}

// formatClockOffset is how far the clock of a node is ahead of ours.
func formatClockOffset(m Member) string {
	if m.Live == nil {
		return "-"
	}
	return fmt.Sprintf("%+.3fs", m.Live.Ahead.Seconds())
}

func (n *Node) statusCommand() commands.Command {
	return commands.Command{
		Name:    "cluster:status",
		Summary: "show which node holds which role, and what runs where",
		Safe:    true,
		Help:    "The epoch of a role grows with each change of its holder. Only what is not as the set of features says is listed of features and plugins.",
		Run: func(ctx context.Context, in *commands.Invocation) error {
			s := n.Status(ctx)
			return in.Emit(s, func() string { return formatStatus(s) })
		},
	}
}

func formatStatus(s Status) string {
	var b strings.Builder
	nodes := &commands.Table{Columns: []commands.Column{{Title: "Node"}, {Title: "Version"}, {Title: "Contract"}, {
		Title: "Revision",
		Right: true,
	},
		{
			Title: "Lag",
			Right: true,
		}, {
			Title: "Lease",
			Right: true,
		}, {Title: "Features", Right: true}, {Title: "State"}}}
	var odd []string
	for _, m := range s.Members {
		revision, left := "-", "-"
		if m.Live != nil {
			revision, left = fmt.Sprint(m.Live.Revision), (time.Duration(m.Live.LeaseMS) * time.Millisecond).Round(100*time.Millisecond).String()
		}
		state := "alive"
		if m.Why != "" {
			state = "does not answer: " + m.Why
		}
		id := m.ID
		if m.Self {
			id += " (this)"
		}
		nodes.Add(
			id,
			m.Version,
			m.Contract,
			revision,
			revisionLag(s, m),
			left,
			len(m.Running.Features),
			state,
		)
		for _, p := range append(append([]Part{}, m.Running.Features...), m.Running.Plugins...) {
			if p.Reason != "" {
				odd = append(
					odd,
					fmt.Sprintf("%s: %s %s is %s: %s", m.ID, p.Name, p.Version, p.State, p.Reason),
				)
			}
		}
	}
	b.WriteString(nodes.String())
	roles := &commands.Table{
		Empty: "No role is held",
		Columns: []commands.Column{{Title: "Role"}, {Title: "Node"}, {Title: "Holder"},
			{Title: "Epoch", Right: true}, {Title: "Since"}},
	}
	for _, r := range s.Roles {
		roles.Add(r.Name, r.Node, r.Holder, uint64(r.Epoch), formatLocalTime(r.Since))
	}
	b.WriteString("\n" + roles.String())
	if len(odd) > 0 {
		b.WriteString("\n" + strings.Join(odd, "\n") + "\n")
	}
	return b.String()
}

// revisionLag is how far a node is after the newest that any node has.
func revisionLag(s Status, m Member) any {
	if m.Live == nil {
		return "-"
	}
	return uint64(s.Revision) - m.Live.Revision
}

func (n *Node) stepDownCommand() commands.Command {
	return commands.Command{
		Name:    "cluster:step-down",
		Summary: "have a node give up roles, so that another takes them over",
		Help: "Without roles it is all of this node, or of the one that --node names. The holders stop in order, and the node does not try to get " +
			"the roles again for the time of --for; a role that no other node takes has no holder until then.",
		Arguments: []commands.Argument{{
			Name:     "role",
			Help:     "role as cluster:status lists it",
			Repeated: true,
			Complete: func(ctx context.Context, _ string) []string {
				var out []string
				for _, r := range n.Status(ctx).Roles {
					out = append(out, r.Name)
				}
				return out
			},
		}},
		Options: []commands.Option{
			{
				Name: "node",
				Type: commands.String,
				Help: "id of the node, as cluster:members lists it",
			},
			{
				Name:    "for",
				Type:    commands.String,
				Default: "30s",
				Help:    "how long it leaves the roles to others, up to an hour",
			},
		},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			pause, err := time.ParseDuration(in.Option("for"))
			if err != nil || pause < time.Second || pause > time.Hour {
				return fault.New(
					fault.Invalid,
					"--for %q is not a time between 1s and 1h",
					in.Option("for"),
				)
			}
			given, err := n.StepDown(ctx, in.Option("node"), in.Args["role"], pause, in.Caller.User)
			if err != nil {
				return err
			}
			return in.Emit(map[string]any{"roles": append([]string{}, given...)}, func() string {
				if len(given) == 0 {
					return "it held none of them\n"
				}
				return strings.Join(given, "\n") + "\n"
			})
		},
	}
}

func tokenCommand(tokens Tokens) commands.Command {
	return commands.Command{
		Name:    "cluster:token",
		Summary: "make the file with which a new node joins this cluster",
		Help: "The file holds the addresses and credentials of the store and the key of all secrets: whoever has it is a member. Carry it over a safe way, " +
			"start the new node with `ctld --home DIR --join FILE` within 24 hours, and remove it: what it holds stays good.",
		Arguments: []commands.Argument{{
			Name:     "file",
			Help:     "a path on the controller's machine, relative to the home",
			Required: true,
		}},
		Run: func(_ context.Context, in *commands.Invocation) error {
			path, warnings, err := tokens(in.Arg("file"))
			if err != nil {
				return err
			}
			return in.Emit(map[string]any{
				"file":     path,
				"warnings": append([]string{}, warnings...),
			}, func() string {
				out := path + "\n"
				for _, w := range warnings {
					out += "warning: " + w + "\n"
				}
				return out
			})
		},
	}
}

func formatLocalTime(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04:05")
}
