package snmpagent

import "ctl.internal/internal/lab/snmpwire"

// Tx is one SET request while it is tried: assignments are made at once and
// undone in reverse order when any of them, or a check, fails.
type Tx struct {
	place   int
	List    []snmpwire.VarBind // the whole request, for rows that need their neighbours
	undo    []func()
	checks  []check
	commits []func()
}

type check struct {
	place int
	test  func() snmpwire.Status
}

// Undo notes how to take the assignment back.
func (t *Tx) Undo(f func()) { t.undo = append(t.undo, f) }

// Check notes a test to run when every assignment is made. Its failure is
// reported for the variable binding now in hand.
func (t *Tx) Check(f func() snmpwire.Status) {
	t.checks = append(t.checks, check{t.place, f})
}

// Commit notes what to do when the request has succeeded, after the model is
// unlocked and before the answer is sent.
func (t *Tx) Commit(f func()) {
	t.commits = append(t.commits, f)
}

// Set implements MIB in the order of RFC 3416 section 4.2.5.
func (b *bound[M]) Set(list []snmpwire.VarBind) (snmpwire.Status, int) {
	tx := &Tx{List: list}
	b.lock.Lock()
	status, place := b.trySet(tx)
	if status != snmpwire.NoError {
		for i := len(tx.undo) - 1; i >= 0; i-- {
			tx.undo[i]()
		}
	}
	b.lock.Unlock()
	if status != snmpwire.NoError {
		return status, place
	}
	for _, f := range tx.commits {
		f()
	}
	return snmpwire.NoError, 0
}

func (b *bound[M]) trySet(tx *Tx) (snmpwire.Status, int) {
	objects := make([]*Object[M], len(tx.List))
	for n, vb := range tx.List {
		i, ok := b.schema.findObject(vb.Name)
		if !ok || b.schema.objects[i].Syntax.Tag == 0 {
			return snmpwire.NotWritable, n + 1
		}
		objects[n] = &b.schema.objects[i]
		if status := objects[n].Syntax.checkValue(vb.Value); status != snmpwire.NoError {
			return status, n + 1
		}
	}
	for _, first := range []bool{true, false} {
		for n, vb := range tx.List {
			o := objects[n]
			if o.First != first {
				continue
			}
			tx.place = n + 1
			status := o.Set(b.model, tx, vb.Name[len(o.OID):], vb.Value)
			if status != snmpwire.NoError {
				return status, n + 1
			}
		}
	}
	for _, c := range tx.checks {
		if status := c.test(); status != snmpwire.NoError {
			return status, c.place
		}
	}
	return snmpwire.NoError, 0
}
