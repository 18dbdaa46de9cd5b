package ovsdb

import (
	"fmt"
	"strconv"
	"time"

	"github.com/ovn-kubernetes/libovsdb/ovsdb"

	"ctl.internal/plugins/switch-driver-ovs/bridge"
)

// Write makes the VLANs of a bridge those of want, in one transaction that holds only
// while the bridge is as it was read (else ErrConflict), and waits until ovs-vswitchd
// has applied it.
func (s *Session) Write(have *Bridge, want *bridge.State) error {
	ops := append(namesOps(have, want), portOps(have, want)...)
	return s.commit(ops)
}

// SetSTP switches the spanning tree of the bridge on or off.
func (s *Session) SetSTP(b *Bridge, on bool) error {
	row := ovsdb.Row{"stp_enable": on}
	if !on {
		row["rstp_enable"] = false
	}
	return s.commit([]ovsdb.Operation{{Op: ovsdb.OperationUpdate, Table: "Bridge", Where: is(b.UUID), Row: row}})
}

// SetPortSTP lets a port take part in the spanning tree, or not.
func (s *Session) SetPortSTP(p *Port, on bool) error {
	value, err := ovsdb.NewOvsMap(map[string]string{"stp-enable": strconv.FormatBool(on)})
	if err != nil {
		return err
	}
	return s.commit([]ovsdb.Operation{{Op: ovsdb.OperationMutate, Table: "Port", Where: is(p.UUID),
		Mutations: []ovsdb.Mutation{deleteKeys("other_config", "stp-enable"), {Column: "other_config", Mutator: ovsdb.MutateOperationInsert, Value: value}}}})
}

func is(uuid string) []ovsdb.Condition {
	return []ovsdb.Condition{{Column: "_uuid", Function: ovsdb.ConditionEqual, Value: ovsdb.UUID{GoUUID: uuid}}}
}

func deleteKeys(column string, keys ...any) ovsdb.Mutation {
	return ovsdb.Mutation{Column: column, Mutator: ovsdb.MutateOperationDelete, Value: ovsdb.OvsSet{GoSet: keys}}
}

// hold refuses the transaction when a row is not as it was read.
func hold(table, uuid string, row ovsdb.Row) ovsdb.Operation {
	now := 0
	var columns []string
	for c := range row {
		columns = append(columns, c)
	}
	return ovsdb.Operation{Op: ovsdb.OperationWait, Table: table, Timeout: &now, Where: is(uuid), Columns: columns, Until: "==", Rows: []ovsdb.Row{row}}
}

func namesOps(have *Bridge, want *bridge.State) []ovsdb.Operation {
	var gone []any
	added := map[any]any{}
	for id := range have.Names {
		if name, ok := want.Names[id]; !ok || name != have.Names[id] {
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
	var m []ovsdb.Mutation
	if len(gone) > 0 {
		m = append(m, deleteKeys("external_ids", gone...))
	}
	if len(added) > 0 {
		m = append(m, ovsdb.Mutation{Column: "external_ids", Mutator: ovsdb.MutateOperationInsert, Value: ovsdb.OvsMap{GoMap: added}})
	}
	before := map[any]any{}
	for k, v := range have.ids {
		before[k] = v
	}
	return []ovsdb.Operation{hold("Bridge", have.UUID, ovsdb.Row{"external_ids": ovsdb.OvsMap{GoMap: before}}),
		{Op: ovsdb.OperationMutate, Table: "Bridge", Where: is(have.UUID), Mutations: m}}
}

func portOps(have *Bridge, want *bridge.State) []ovsdb.Operation {
	var ops []ovsdb.Operation
	for i, p := range want.Ports {
		if old := have.State.Ports[i]; !old.Columns.Equal(p.Columns) {
			ops = append(ops, hold("Port", p.UUID, row(old.Columns)),
				ovsdb.Operation{Op: ovsdb.OperationUpdate, Table: "Port", Where: is(p.UUID), Row: row(p.Columns)})
		}
	}
	return ops
}

// row is the columns as OVSDB writes them: what is not set is an empty set.
func row(c bridge.Columns) ovsdb.Row {
	tag, trunks, mode := []any{}, []any{}, []any{}
	if c.Tag != 0 {
		tag = append(tag, c.Tag)
	}
	for _, v := range c.Trunks {
		trunks = append(trunks, v)
	}
	if c.Mode != "" {
		mode = append(mode, c.Mode)
	}
	return ovsdb.Row{"tag": ovsdb.OvsSet{GoSet: tag}, "trunks": ovsdb.OvsSet{GoSet: trunks}, "vlan_mode": ovsdb.OvsSet{GoSet: mode}}
}

// NotAppliedError is a change that is in the database, but that ovs-vswitchd has not
// made in time.
type NotAppliedError struct{ Cause error }

func (e *NotAppliedError) Error() string {
	return fmt.Sprintf("the change is in the database, but ovs-vswitchd does not apply it (%v)", e.Cause)
}

func (e *NotAppliedError) Unwrap() error { return e.Cause }

// commit makes the operations and waits until ovs-vswitchd has caught up: it copies
// next_cfg to cur_cfg when all before it is in the data plane.
func (s *Session) commit(ops []ovsdb.Operation) error {
	if len(ops) == 0 {
		return nil
	}
	// libovsdb leaves an empty condition out, which the server does not take.
	only := []ovsdb.Condition{{Column: "next_cfg", Function: ovsdb.ConditionGreaterThanOrEqual, Value: 0}}
	ops = append(ops,
		ovsdb.Operation{Op: ovsdb.OperationMutate, Table: "Open_vSwitch", Where: only, Mutations: []ovsdb.Mutation{{Column: "next_cfg", Mutator: ovsdb.MutateOperationAdd, Value: 1}}},
		ovsdb.Operation{Op: ovsdb.OperationSelect, Table: "Open_vSwitch", Columns: []string{"next_cfg"}})
	r, err := s.transact(ops...)
	if err != nil {
		return err
	}
	rows := r[len(ops)-1].Rows
	if len(rows) != 1 {
		return fmt.Errorf("the table Open_vSwitch has %d rows", len(rows))
	}
	next := integer(rows[0]["next_cfg"])
	for pause := time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		rows, err := s.rows("Open_vSwitch", []string{"cur_cfg"})
		if err != nil {
			return &NotAppliedError{err}
		}
		if len(rows) == 1 && integer(rows[0]["cur_cfg"]) >= next {
			return nil
		}
		select {
		case <-time.After(pause):
		case <-s.ctx.Done():
			return &NotAppliedError{s.ctx.Err()}
		}
	}
}
