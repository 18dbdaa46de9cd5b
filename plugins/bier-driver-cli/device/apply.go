package device

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"ctl.internal/internal/netconf"
	"ctl.internal/plugins/bier-driver-cli/template"
	"ctl.internal/sdk/bierdriver"
)

// Apply is of the contract. A command line has no transactions: what was typed before
// a fault is taken back by typing what was there.
func (d *Driver) Apply(
	ctx context.Context,
	r *bierdriver.Router,
	c *bierdriver.Config,
	permit bierdriver.Permit,
) (*bierdriver.Result, error) {
	a := &bierdriver.Result{}
	if err := d.checkSupported(c); err != nil {
		a.State, a.Reason = bierdriver.Failed, err.Error()
		return a, nil
	}
	var err error
	a.Session, a.Messages, err = d.withTerminal(ctx, r, func(ctx context.Context, n *node, t *terminal) error {
		said, err := d.sendLine(ctx, t, d.set.Commands.Show)
		if err != nil {
			return err
		}
		want, err := d.model.Numbered(c, d.model.Numbers(said, n.last))
		if err != nil {
			return err
		}
		have := d.model.Parse(said)
		typed, edits := d.model.Diff(have, want)
		a.Edits = edits
		if permit == nil {
			return nil
		}
		if len(typed) > 0 ||
			n.unsaved { // a command line keeps nothing back: both are asked before the first line
			if _, err := permit.Begin(ctx, ""); err != nil {
				return err
			}
			if err := permit.Commit(ctx); err != nil {
				return err
			}
		}
		switch {
		case len(typed) > 0:
			n.unsaved = true
			if err := d.changeConfig(ctx, t, have, want, typed); err != nil {
				return err
			}
		case n.unsaved: // the session ended before the last change was saved
			if err := d.saveConfig(ctx, t); err != nil {
				return err
			}
		}
		n.unsaved = false
		n.last, n.had, n.members = want, true, c.Members
		return nil
	})
	a.State = bierdriver.Applied
	if err != nil {
		a.State, a.Reason = bierdriver.Pending, oneLine(err)
		var key *netconf.HostKeyError
		if errors.Is(err, errRefused) || errors.Is(err, netconf.ErrLogin) || errors.As(err, &key) {
			a.State = bierdriver.Failed
		}
	}
	return a, nil
}

// checkSupported says why a configuration cannot be typed.
func (d *Driver) checkSupported(c *bierdriver.Config) error {
	n := len(c.GetGlobal().GetSubDomains())
	if n > 1 && slices.Contains(d.set.Lacks, bierdriver.SubDomains) {
		return fmt.Errorf(
			"the router's model has one sub-domain only, and %d are wanted (%s)",
			n,
			bierdriver.SubDomains,
		)
	}
	_, err := d.model.Want(c)
	return err
}

// Check implements bierdriver.Checker.
func (d *Driver) Check(
	_ context.Context,
	_ *bierdriver.Router,
	c *bierdriver.Config,
) (*bierdriver.Checked, error) {
	out := &bierdriver.Checked{}
	channels := d.model.Refusals(c)
	if err := d.checkSupported(&bierdriver.Config{Global: c.GetGlobal()}); err != nil {
		out.Reason = err.Error()
	}
	for _, i := range slices.Sorted(maps.Keys(channels)) {
		out.Channels = append(
			out.Channels,
			&bierdriver.Refusal{
				Channel: uint32(i),
				Reason:  channels[i].Error(),
			},
		)
	}
	return out, nil
}

// changeConfig types, reads back, and takes everything back when that is not what was meant.
func (d *Driver) changeConfig(
	ctx context.Context,
	t *terminal,
	have, want []template.Section,
	typed []string,
) error {
	err := d.typeAll(ctx, t, typed)
	if err == nil {
		var now []template.Section
		if now, err = d.readSections(ctx, t); err == nil {
			_, edits := d.model.Diff(now, want)
			if len(edits) > 0 {
				err = fmt.Errorf(
					"%w: it accepted every line, but does not have %q",
					errRefused,
					edits[0],
				)
			} else {
				err = d.saveConfig(ctx, t)
			}
		}
	}
	if err == nil || !errors.Is(err, errRefused) {
		return err // or the session is over; the next call finds out what is there
	}
	ctx = context.WithoutCancel(ctx)
	if back := d.restoreConfig(ctx, t, have); back != nil {
		err = errors.Join(err, fmt.Errorf("and the change could not be undone: %w", back))
	}
	return err
}

// saveConfig makes the configuration survive a restart of the router.
func (d *Driver) saveConfig(ctx context.Context, t *terminal) error {
	if d.set.Commands.Save == "" {
		return nil
	}
	return d.typeLine(ctx, t, d.set.Commands.Save)
}

func (d *Driver) typeAll(ctx context.Context, t *terminal, lines []string) error {
	if err := d.typeLine(ctx, t, d.set.Commands.Configure); err != nil {
		return err
	}
	for _, l := range lines {
		if err := d.typeLine(ctx, t, l); err != nil {
			if errors.Is(err, errRefused) {
				err = errors.Join(err, d.typeLine(ctx, t, d.set.Commands.End))
			}
			return err
		}
	}
	return d.typeLine(ctx, t, d.set.Commands.End)
}

func (d *Driver) restoreConfig(ctx context.Context, t *terminal, before []template.Section) error {
	now, err := d.readSections(ctx, t)
	if err != nil {
		return err
	}
	typed, _ := d.model.Diff(now, before)
	if len(typed) == 0 {
		return nil
	}
	return d.typeAll(ctx, t, typed)
}
