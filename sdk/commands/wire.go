package commands

import (
	"context"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// ToProto describes a table for the manifest.
func ToProto(table []Command) []*pluginv1.Command {
	out := make([]*pluginv1.Command, 0, len(table))
	for _, c := range table {
		p := &pluginv1.Command{
			Name:       c.Name,
			Summary:    c.Summary,
			Help:       c.Help,
			Safe:       c.Safe,
			PullsStdin: true,
		}
		for _, a := range c.Arguments {
			p.Arguments = append(p.Arguments, &pluginv1.Argument{
				Name:      a.Name,
				Help:      a.Help,
				Required:  a.Required,
				Repeated:  a.Repeated,
				Values:    a.Values,
				Type:      string(a.Type),
				Completes: a.Complete != nil,
			})
		}
		for _, o := range c.Options {
			p.Options = append(p.Options, &pluginv1.Option{
				Name:      o.Name,
				Short:     o.Short,
				Help:      o.Help,
				Type:      string(o.Type),
				Default:   o.Default,
				Required:  o.Required,
				Values:    o.Values,
				Completes: o.Complete != nil,
			})
		}
		out = append(out, p)
	}
	return out
}

// FromProto returns the table of a plugin's manifest; its commands run and
// complete through c.
func FromProto(in []*pluginv1.Command, c *Client) []Command {
	out := make([]Command, 0, len(in))
	for _, p := range in {
		name := p.Name
		complete := func(parameter string, on bool) func(context.Context, string) []string {
			if !on {
				return nil
			}
			return func(ctx context.Context, prefix string) []string {
				return c.Complete(ctx, name, parameter, prefix)
			}
		}
		cmd := Command{
			Name:    name,
			Summary: p.Summary,
			Help:    p.Help,
			Safe:    p.Safe,
			Run:     c.Execute,
		}
		if !p.PullsStdin {
			cmd.Run = c.executeFed
		}
		for _, a := range p.Arguments {
			cmd.Arguments = append(cmd.Arguments, Argument{
				Name:     a.Name,
				Help:     a.Help,
				Required: a.Required,
				Repeated: a.Repeated,
				Values:   a.Values,
				Type:     Type(a.Type),
				Complete: complete(a.Name, a.Completes),
			})
		}
		for _, o := range p.Options {
			cmd.Options = append(cmd.Options, Option{
				Name:     o.Name,
				Short:    o.Short,
				Help:     o.Help,
				Type:     Type(o.Type),
				Default:  o.Default,
				Required: o.Required,
				Values:   o.Values,
				Complete: complete(o.Name, o.Completes),
			})
		}
		out = append(out, cmd)
	}
	return out
}
