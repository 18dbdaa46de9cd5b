package mibdriver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// A row of a table that may have a million of them: its index, and the values of two columns.
type row struct {
	at     [maxIndex]uint32
	n      int
	values [2]uint64
	has    bool // a second value
}

// maxIndex is the longest index of such a table: of ipNetToPhysicalTable with an IPv6 address and its zone. That of a
// forwarding table is an identifier, the length of the address and its octets.
const (
	maxIndex    = 23
	maxFDBIndex = 8
)

func (r *row) index() []uint32 { return r.at[:r.n] }

// columns are two columns of a table, and how their values are read.
type columns struct {
	names  [2]string
	values [2]func(snmp.Value) uint64
}

// readPage reads the rows of a table that are within a part of its index and after a place, at most limit of them, and
// reports whether there are more, and what was cut. Both columns are read at the same time, on two sockets: a switch
// takes about as long for one as for the other. A row without a value in the first column does not count.
func (d *Driver) readPage(
	ctx context.Context,
	t snmp.Target,
	c columns,
	within, after []uint32,
	limit int,
) (rows []row, more bool, partial []discovery.Cut, err error) {
	if len(after) < len(within) {
		after = within
	}
	var read [2][]row
	var ended [2]bool
	var cut [2]error // after what was read
	full := errors.New("as many as were wanted")
	g, gctx := errgroup.WithContext(ctx)
	for i, name := range c.names {
		g.Go(func() error {
			err := d.snmp.WalkAfter(gctx, t, after[len(within):], []string{mib.Sub(name, within...)}, func(_ int, ix []uint32, v snmp.Value) error {
				if len(within)+len(ix) > maxIndex {
					return nil
				}
				if len(read[i]) == limit {
					return full
				}
				r := row{n: len(within) + len(ix)}
				copy(r.at[:], within)
				copy(r.at[len(within):], ix)
				r.values[0] = c.values[i](v)
				read[i] = append(read[i], r)
				return nil
			})
			if ended[i] = !errors.Is(err, full); !ended[i] {
				return nil
			}
			if _, isCut := cutTable(err); isCut {
				cut[i] = err
				return nil
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, false, nil, err
	}
	rows, more = joinRows(read[0], read[1], ended)
	err = errors.Join(cut[0], cut[1])
	table, isCut := cutTable(err)
	if isCut && !more { // else it comes in a later page
		partial = []discovery.Cut{{
			Table: table,
			Why:   err.Error(),
		}}
	}
	return rows, more, partial, nil
}

// joinRows puts the values of the second column to the rows of the first. Rows that the second column was not read
// up to are left for the next page.
func joinRows(first, second []row, ended [2]bool) (rows []row, more bool) {
	more = !ended[0]
	if !ended[1] {
		last := second[len(second)-1].index()
		end := len(first)
		for end > 0 && slices.Compare(first[end-1].index(), last) > 0 {
			end--
		}
		more = more || end < len(first)
		first = first[:end]
	}
	next := 0
	for i := range first {
		for next < len(second) && slices.Compare(second[next].index(), first[i].index()) < 0 {
			next++
		}
		if next < len(second) && slices.Compare(second[next].index(), first[i].index()) == 0 {
			first[i].values[1], first[i].has = second[next].values[0], true
		}
	}
	return first, more
}

// cutTable reports whether an error spoils a table from where it came, and which: an agent whose answers do not
// increase, or that answers with an error-status in the middle.
func cutTable(err error) (table string, cut bool) {
	var loop *snmp.LoopError
	var e *snmp.Error
	switch {
	case errors.As(err, &loop):
		return mib.TableOf(loop.OID), true
	case errors.As(err, &e) && e.Status != 0 && !e.Access():
		return mib.TableOf(e.OID), true
	}
	return "", false
}

// undecodableCuts is what is said of a table with rows that cannot be decoded.
func undecodableCuts(column string, rows int) []discovery.Cut {
	if rows == 0 {
		return nil
	}
	return []discovery.Cut{{
		Table: mib.TableOf(column),
		Why:   fmt.Sprintf("%d rows cannot be decoded and are left out", rows),
	}}
}

// cursorOf names a place in a table: a letter for the table, then the index.
func cursorOf(table string, index []uint32) string {
	return table + strings.TrimPrefix(mib.Sub("", index...), ".")
}

// readCursor is the place that a cursor names; an empty one is the beginning of any table.
func readCursor(cursor string, tables ...string) (table string, index []uint32, err error) {
	if cursor == "" {
		return "", nil, nil
	}
	bad := fault.At(
		fault.Invalid,
		"cursor",
		"%.60q is not a cursor of this table: read it from its beginning",
		cursor,
	)
	if table = cursor[:1]; !slices.Contains(tables, table) {
		return "", nil, bad
	}
	index, ok := mib.Under("", "."+cursor[1:], nil)
	most := map[bool]int{
		true:  maxIndex,
		false: maxFDBIndex,
	}[table == tablePhysical || table == tableIPv6]
	if !ok || len(index) > most {
		return "", nil, bad
	}
	return table, index, nil
}

// allPages reads all pages of a table; one that is cut is a fault.
func allPages[E any](
	ctx context.Context,
	sw *switchdriver.Switch,
	read func(context.Context, *switchdriver.Switch, driver.Query) (driver.Page[E], error),
) (all []*E, err error) {
	for q := (driver.Query{Limit: driver.PageSize}); ; {
		p, err := read(ctx, sw, q)
		if err == nil && len(p.Partial) > 0 {
			err = fault.Device(
				fault.Downstream,
				"switch %s: the table %s is cut: %s",
				switchdriver.Label(sw),
				p.Partial[0].Table,
				p.Partial[0].Why,
			)
		}
		if err != nil {
			return nil, err
		}
		if all, q.Cursor = append(all, p.Entries...), p.Next; q.Cursor == "" {
			return all, nil
		}
	}
}
