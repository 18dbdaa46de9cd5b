package ovsdb

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"ctl.internal/internal/together"
	"ctl.internal/plugins/switch-driver-ovs/bridge"
)

// Write makes the VLANs of a bridge those of want, in one transaction that holds only
// while the bridge is as it was read (else ErrConflict), and waits until ovs-vswitchd
// has applied it.
func (s *Session) Write(have *Bridge, want *bridge.State) error {
	return s.commitOps(append(namesOps(have, want), portOps(have, want)...))
}

// SetSTP switches the spanning tree of the bridge on or off.
func (s *Session) SetSTP(b *Bridge, on bool) error {
	columns := row{"stp_enable": on}
	if !on {
		columns["rstp_enable"] = false
	}
	return s.commitOps([]op{updateOp("Bridge", b.UUID, columns)})
}

// SetPortSTP lets a port take part in the spanning tree, or not.
func (s *Session) SetPortSTP(p *Port, on bool) error {
	return s.commitOps([]op{mutateOp("Port", p.UUID, deleteKeys("other_config", "stp-enable"),
		insertKeys("other_config", map[string]string{"stp-enable": strconv.FormatBool(on)}))})
}

func whereUUID(uuid string) any {
	return []any{[]any{"_uuid", "==", ofUUID(uuid)}}
}

func updateOp(table, uuid string, columns row) op {
	return op{
		"op":    "update",
		"table": table,
		"where": whereUUID(uuid),
		"row":   columns,
	}
}

func mutateOp(table, uuid string, mutations ...any) op {
	return op{
		"op":        "mutate",
		"table":     table,
		"where":     whereUUID(uuid),
		"mutations": mutations,
	}
}

func deleteKeys(column string, keys ...any) any {
	return []any{column, "delete", ofSet(keys...)}
}

func insertKeys(column string, values map[string]string) any {
	return []any{column, "insert", ofMap(values)}
}

// waitOp refuses the transaction when columns of a row are not as they were read.
func waitOp(table, uuid string, columns row) op {
	return op{
		"op":      "wait",
		"table":   table,
		"timeout": 0,
		"where":   whereUUID(uuid),
		"columns": slices.Sorted(maps.Keys(columns)),
		"until":   "==",
		"rows":    []row{columns},
	}
}

func namesOps(have *Bridge, want *bridge.State) []op {
	var gone []any
	added := map[string]string{}
	for id, old := range have.Names {
		if name, ok := want.Names[id]; !ok || name != old {
			gone = append(gone, fmt.Sprint(vlanKey, id))
		}
	}
	for id, name := range want.Names {
		if old, ok := have.Names[id]; !ok || old != name {
			added[fmt.Sprint(vlanKey, id)] = name
		}
	}
	if len(gone)+len(added) == 0 {
		return nil
	}
	return []op{waitOp("Bridge", have.UUID, row{"external_ids": ofMap(have.ids)}),
		mutateOp(
			"Bridge",
			have.UUID,
			deleteKeys("external_ids", gone...),
			insertKeys("external_ids", added),
		)}
}

func portOps(have *Bridge, want *bridge.State) []op {
	var ops []op
	for i, p := range want.Ports {
		if old := have.State.Ports[i]; !old.Columns.Equal(p.Columns) {
			ops = append(
				ops,
				waitOp("Port", p.UUID, rowOf(old.Columns)),
				updateOp("Port", p.UUID, rowOf(p.Columns)),
			)
		}
	}
	return ops
}

// rowOf is the columns as OVSDB writes them: what is not set is an empty set.
func rowOf(c bridge.Columns) row {
	var tag, trunks, mode []any
	if c.Tag != 0 {
		tag = append(tag, c.Tag)
	}
	for _, v := range c.Trunks {
		trunks = append(trunks, v)
	}
	if c.Mode != "" {
		mode = append(mode, c.Mode)
	}
	return row{
		"tag":       ofSet(tag...),
		"trunks":    ofSet(trunks...),
		"vlan_mode": ofSet(mode...),
	}
}

// NotAppliedError is a change that is in the database, but that ovs-vswitchd has not
// made in time.
type NotAppliedError struct{ Cause error }

func (e *NotAppliedError) Error() string {
	return fmt.Sprintf(
		"the change is in the database, but ovs-vswitchd does not apply it (%v)",
		e.Cause,
	)
}

func (e *NotAppliedError) Unwrap() error { return e.Cause }

// commitOps makes the operations and waits until ovs-vswitchd has caught up: it copies
// next_cfg to cur_cfg when all before it is in the data plane.
func (s *Session) commitOps(ops []op) error {
	if len(ops) == 0 {
		return nil
	}
	ops = append(
		ops,
		op{
			"op":        "mutate",
			"table":     database,
			"where":     []any{},
			"mutations": []any{[]any{"next_cfg", "+=", 1}},
		},
		selectOp(database, "next_cfg"),
	)
	r, err := s.runTransaction(ops...)
	if err != nil {
		return err
	}
	rows := r[len(ops)-1].Rows
	if len(rows) != 1 {
		return fmt.Errorf("the table %s has %d rows", database, len(rows))
	}
	next := intValue(rows[0]["next_cfg"])
	for pause := time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		r, err := s.runTransaction(selectOp(database, "cur_cfg"))
		if err != nil {
			return &NotAppliedError{err}
		}
		rows := r[0].Rows
		if len(rows) == 1 && intValue(rows[0]["cur_cfg"]) >= next {
			return nil
		}
		if err := together.Sleep(s.ctx, pause); err != nil {
			return &NotAppliedError{err}
		}
	}
}
