package driver

import (
	"context"
	"fmt"
	"strings"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// checked is a driver plugin that is not trusted: each call has a deadline, each answer
// is checked, and what was written is read back.
type checked struct {
	name   string
	client *switchdriver.Client
	has    map[string]bool
	c      *Chooser
}

func newChecked(p *provider, c *Chooser) *checked {
	return &checked{name: p.Name, client: switchdriver.NewClient(c.opt.Board.Dial(p.Name)), has: p.operations, c: c}
}

// The operations that read; changes go through perform.
var (
	_ switchdriver.VLANReader     = (*checked)(nil)
	_ switchdriver.FDBReader      = (*checked)(nil)
	_ switchdriver.PortReader     = (*checked)(nil)
	_ switchdriver.NeighborReader = (*checked)(nil)
	_ switchdriver.STPReader      = (*checked)(nil)
	_ switchdriver.ARPReader      = (*checked)(nil)
	_ switchdriver.ACLReader      = (*checked)(nil)
)

// Match is empty: the registry has the driver's.
func (g *checked) Match() switchdriver.Match { return switchdriver.Match{} }

// call runs f with the deadline and says whose fault an error is.
func call[T any](ctx context.Context, g *checked, sw *switchdriver.Switch, f func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, g.c.opt.Deadline)
	defer cancel()
	v, err := f(ctx)
	if err == nil {
		return v, nil
	}
	var none T
	return none, g.fault(ctx, sw, err)
}

// maxFaultText bounds what a driver may say went wrong.
const maxFaultText = 500

// fault names the driver and the switch where the driver did not, and lets nothing odd
// through.
func (g *checked) fault(ctx context.Context, sw *switchdriver.Switch, err error) error {
	l := fault.All(err)
	out := make(fault.List, 0, len(l))
	for _, e := range l {
		text := clean(e.Text, maxFaultText)
		switch {
		case e.Kind == fault.Timeout && e.Source != fault.SourceDevice, ctx.Err() != nil && e.Kind == fault.Unavailable:
			return &fault.Error{Kind: fault.Timeout, Cause: err, Text: fmt.Sprintf("the driver %s did not answer for switch %s in time", g.name, switchdriver.Label(sw))}
		case e.Kind == fault.Internal || e.Kind == fault.Unavailable:
			text = fmt.Sprintf("the driver %s failed for switch %s: %s", g.name, switchdriver.Label(sw), text)
		}
		path := ""
		if leaf(e.Path) {
			path = e.Path
		}
		out = append(out, &fault.Error{Kind: e.Kind, Text: text, Path: path, Source: e.Source, Cause: err})
	}
	return out.Err()
}

// impossible is an answer that cannot be true.
func (g *checked) impossible(sw *switchdriver.Switch, format string, args ...any) error {
	return fault.New(fault.Downstream, "the driver %s returned impossible data for switch %s: %s", g.name, switchdriver.Label(sw), fmt.Sprintf(format, args...))
}

// leaf reports whether a path is the name of a leaf, which is all a driver may give.
func leaf(path string) bool {
	return path != "" && len(path) <= 64 && !strings.ContainsFunc(path, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-'
	})
}

// clean is text of a driver for people: bounded, without control characters.
func clean(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\ufffd' || (r >= 0x80 && r < 0xa0) {
			return ' '
		}
		return r
	}, s)
	if r := []rune(s); len(r) > limit {
		s = string(r[:limit]) + "…"
	}
	return s
}
