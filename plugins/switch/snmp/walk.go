package snmp

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gosnmp/gosnmp"

	"ctl.internal/plugins/switch/mib"
)

// The bounds of a walk.
const (
	maxColumns  = 20      // side by side in one request
	maxBindings = 1 << 20 // in all; a greater table is refused
)

// cursor is how far a column has been read.
type cursor struct {
	column int
	base   string
	next   string   // the identifier to ask after
	last   []uint32 // its arcs below base
	done   bool
}

type walk struct {
	*session
	each  func(int, []uint32, Value) error
	open  []*cursor
	count int
	loop  error // a LoopError, after all that was read
	arcs  []uint32
	few   int // rows to ask for next, 0 = as many as the switch can
}

func (s *session) walkColumns(
	ctx context.Context,
	columns []string,
	after []uint32,
	few int,
	each func(int, []uint32, Value) error,
) error {
	w := &walk{session: s, each: each, few: few}
	for i, c := range columns {
		w.open = append(
			w.open,
			&cursor{
				column: i,
				base:   c,
				next:   mib.Sub(c, after...),
				last:   slices.Clone(after),
			},
		)
	}
	for len(w.open) > 0 {
		if err := w.askRows(ctx); err != nil {
			return err
		}
		w.open = slices.DeleteFunc(w.open, func(c *cursor) bool { return c.done })
	}
	return w.loop
}

// askRows asks once and takes what comes.
func (w *walk) askRows(ctx context.Context) error {
	columns, rows, bulk := w.learned.requestShape(len(w.open), w.opt.VarBinds)
	if w.few > 0 && bulk {
		rows = min(rows, w.few)
		w.few *= 4
	}
	bulk = bulk && w.g.Version != gosnmp.Version1
	ask := w.open[:columns]
	names := make([]string, columns)
	for i, c := range ask {
		names[i] = c.next
	}
	op := "GETNEXT"
	send := func() (*gosnmp.SnmpPacket, error) { return w.g.GetNext(names) }
	if bulk {
		op = "GETBULK"
		send = func() (*gosnmp.SnmpPacket, error) {
			return w.g.GetBulk(names, 0, uint32(rows))
		}
	} else {
		rows = 1
	}
	p, err := w.exchangeMessage(ctx, op, names[0], send)
	if err != nil {
		return w.retrySmaller(ctx, err, columns, rows)
	}
	if p.Error != gosnmp.NoError {
		return w.handleErrorStatus(p, op, ask, names, rows, bulk)
	}
	if err := w.takeBindings(ask, p.Variables); err != nil {
		return err
	}
	if len(p.Variables) == 0 && !w.learned.lowerLimits(columns, rows, 2) {
		return &Error{
			Op:    op,
			OID:   names[0],
			Cause: errors.New("the answer is empty"),
		}
	}
	w.learned.countAnswer()
	return nil
}

// retrySmaller reacts to no answer, or one that does not parse. The switch has answered
// before, so a smaller answer may come through; the deadline bounds this.
func (w *walk) retrySmaller(ctx context.Context, err error, columns, rows int) error {
	var e *Error
	if errors.As(err, &e) && (e.Access() || e.Unreachable()) ||
		ctx.Err() != nil ||
		w.learned.version() == "" ||
		!w.learned.lowerLimits(columns, rows, 5) {
		return err
	}
	if w.g.Conn == nil {
		return err
	}
	w.broken = false
	return nil
}

// handleErrorStatus reacts to an error-status.
func (w *walk) handleErrorStatus(
	p *gosnmp.SnmpPacket,
	op string,
	ask []*cursor,
	names []string,
	rows int,
	bulk bool,
) error {
	i := int(p.ErrorIndex) - 1
	switch {
	case p.Error == gosnmp.NoSuchName && i >= 0 && i < len(ask): // the end of the MIB in version 1
		ask[i].done = true
		return nil
	case p.Error == gosnmp.NoSuchName:
		for _, c := range ask {
			c.done = true
		}
		return nil
	case p.Error == gosnmp.TooBig && w.learned.lowerLimits(len(ask), rows, 2):
		return nil
	case bulk:
		w.learned.giveUpBulk()
		return nil
	}
	return &Error{
		Op:     op,
		OID:    nameAtIndex(names, i),
		Status: p.Error,
	}
}

// takeBindings hands the bindings of an answer on. They come row by row, one for each
// column asked for; the last row may be cut short.
func (w *walk) takeBindings(ask []*cursor, bindings []gosnmp.SnmpPDU) error {
	for i, vb := range bindings {
		c := ask[i%len(ask)]
		if c.done {
			continue
		}
		v := Value{vb.Type, vb.Value}
		index, under := mib.Under(c.base, vb.Name, w.arcs)
		if !under || !v.Exists() {
			c.done = true
			continue
		}
		w.arcs = index
		if c.last != nil && slices.Compare(index, c.last) <= 0 {
			c.done = true
			w.loop = &LoopError{OID: c.base}
			continue
		}
		if w.count++; w.count > maxBindings {
			return fmt.Errorf("the tables have more than %d values", maxBindings)
		}
		c.last, c.next = append(c.last[:0], index...), vb.Name
		if err := w.each(c.column, index, v); err != nil {
			return err
		}
	}
	return nil
}
