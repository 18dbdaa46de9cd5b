package tables

import (
	"context"
	"strings"
	"time"

	"ctl.internal/host/internal/grant"
	"ctl.internal/host/internal/plugin"
	"ctl.internal/internal/console"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// grantData is a request in plugin:info --format json.
type grantData struct {
	Grant string    `json:"grant"`
	Words string    `json:"words"`
	State string    `json:"state"` // granted, refused or undecided
	By    string    `json:"by,omitempty"`
	At    time.Time `json:"at,omitzero"`
}

func (g grantData) formatGrant() string {
	line := g.State
	if g.By != "" {
		line += " by " + g.By
	}
	if !g.At.IsZero() {
		line += " on " + formatTime(g.At)
	}
	return console.Printable(line + ": " + g.Words + " [" + g.Grant + "]")
}

func grantRows(p plugin.Info) []grantData {
	out := []grantData{}
	for _, d := range p.Grants {
		g := grantData{
			Grant: d.Request.Grant.String(),
			Words: d.Words(),
			State: "undecided",
		}
		if d.Decided {
			g.By, g.At, g.State = d.By, d.At, "refused"
			if d.Granted {
				g.State = "granted"
			}
		}
		out = append(out, g)
	}
	return out
}

// decisionCommand grants or revokes what a plugin requests.
func (t plugins) decisionCommand(name, summary string, granted bool, help string) commands.Command {
	return commands.Command{
		Name: "plugin:" + name, Summary: summary, Help: help,
		Arguments: []commands.Argument{t.nameArgument(false),
			{
				Name:     "grant",
				Help:     "as plugin:info shows it, such as \"rpc vlan:add-vlan\"; none = all that the plugin requests",
				Repeated: true,
			}},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			return t.decideGrants(ctx, in, granted)
		},
	}
}

func (t plugins) decideGrants(ctx context.Context, in *commands.Invocation, granted bool) error {
	name := in.Arg("name")
	info, err := t.Info(name)
	if err != nil {
		return err
	}
	var list []grant.Grant
	for _, text := range in.Args["grant"] {
		g, err := grant.Parse(text)
		if err != nil {
			return fault.Wrap(fault.Invalid, err, "%v", err)
		}
		list = append(list, g)
	}
	if len(list) == 0 {
		for _, d := range info.Grants {
			if d.Granted != granted || !d.Decided {
				list = append(list, d.Request.Grant)
			}
		}
	}
	if len(list) == 0 {
		in.Printf("nothing to do: plugin:info %s shows its grants\n", name)
		return nil
	}
	if err := t.Decide(ctx, name, grantActor(in.Caller), granted, list); err != nil {
		return err
	}
	later := false
	for _, g := range list {
		in.Printf(
			"%s\n",
			console.Printable(map[bool]string{
				true:  "granted: ",
				false: "revoked: ",
			}[granted]+g.Words()+" ["+g.String()+"]"),
		)
		later = later || g.AtStart()
	}
	if info.State == plugin.Failed && granted && strings.Contains(info.Reason, "needs a decision") {
		return t.Start(ctx, name)
	}
	if later && info.State.Serving() {
		in.Printf(
			"files and network follow at the next start of the process: plugin:reload %s\n",
			name,
		)
	}
	return nil
}
