package driver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// guard is a driver plugin that is not believed: each call has a deadline, each answer
// is checked, and what was written is read back.
type guard struct {
	name   string
	client *switchdriver.Client
	has    map[string]bool
	c      *Chooser
}

func newGuard(p *provider, c *Chooser) *guard {
	return &guard{name: p.Name, client: switchdriver.NewClient(c.opt.Board.Dial(p.Name)), has: p.operations, c: c}
}

// The operations.
var (
	_ switchdriver.VLANReader      = (*guard)(nil)
	_ switchdriver.VLANWriter      = (*guard)(nil)
	_ switchdriver.FDBReader       = (*guard)(nil)
	_ switchdriver.FDBWriter       = (*guard)(nil)
	_ switchdriver.PortReader      = (*guard)(nil)
	_ switchdriver.NeighborReader  = (*guard)(nil)
	_ switchdriver.STPReader       = (*guard)(nil)
	_ switchdriver.STPWriter       = (*guard)(nil)
	_ switchdriver.ARPReader       = (*guard)(nil)
	_ switchdriver.ARPWriter       = (*guard)(nil)
	_ switchdriver.ACLApplier      = (*guard)(nil)
	_ switchdriver.ACLReader       = (*guard)(nil)
	_ switchdriver.SettingsApplier = (*guard)(nil)
)

// Match is what the driver told.
func (g *guard) Match() switchdriver.Match { return switchdriver.Match{} }

// call runs f with the deadline and says whose fault an error is.
func call[T any](ctx context.Context, g *guard, sw *switchdriver.Switch, f func(context.Context) (T, error)) (T, error) {
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
func (g *guard) fault(ctx context.Context, sw *switchdriver.Switch, err error) error {
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

// lies is an answer that cannot be true.
func (g *guard) lies(sw *switchdriver.Switch, format string, args ...any) error {
	return fault.New(fault.Downstream, "the driver %s answered for switch %s with what cannot be: %s", g.name, switchdriver.Label(sw), fmt.Sprintf(format, args...))
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

// backOff are the pauses before what was written is read again: switches need a moment.
func backOff() []time.Duration {
	return []time.Duration{0, 200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond}
}

// confirm reads back until the switch shows what was written; differs tells how it does
// not. A switch that this cannot be read of is believed.
func (g *guard) confirm(ctx context.Context, sw *switchdriver.Switch, look func(context.Context) (differs string, err error)) error {
	differs := ""
	for _, pause := range backOff() {
		wait(ctx, pause)
		if ctx.Err() != nil {
			break
		}
		var err error
		switch differs, err = look(ctx); {
		case err == nil && differs == "":
			return nil
		case errors.Is(err, &fault.Error{Kind: fault.Unsupported}):
			return nil
		case err != nil:
			return err
		}
	}
	return fault.Device(fault.Downstream, "the driver %s says that the change of switch %s is made, but it shows %s", g.name, switchdriver.Label(sw), differs)
}

// reading returns what reads an operation's result: the driver itself, else the
// standard one.
func reading[T any](g *guard, operation string) (T, error) {
	var t T
	if g.has[operation] {
		return any(g).(T), nil
	}
	for _, o := range switchdriver.Operations(g.c.opt.Standard) {
		if s, ok := g.c.opt.Standard.(T); ok && o == operation {
			return s, nil
		}
	}
	return t, fault.New(fault.Unsupported, "no driver can read this back")
}
