package simswitch

import (
	"sort"

	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/internal/lab/snmpwire"
)

// Short names for what every file of MIB objects uses.
type (
	object = snmpagent.Object[*Switch]
	oid    = snmpwire.OID
	value  = snmpwire.Value
	status = snmpwire.Status
	tx     = *snmpagent.Tx
)

// NewSchema returns the objects of switches that show their neighbours in one way.
func NewSchema(d Discovery) *snmpagent.Schema[*Switch] {
	objects := [][]object{systemObjects(), ifObjects(), ifXObjects(), ipObjects(), arpObjects(),
		bridgeObjects(), stpObjects(), stpPortObjects(), bridgeFDBObjects(),
		fdbObjects(), staticObjects(), vlanCurrentObjects(), vlanStaticObjects(), pvidObjects(), etherObjects(), powerObjects()}
	if d == LLDP || d == Both {
		objects = append(objects, lldpObjects(false))
	}
	if d == LLDPV2 {
		objects = append(objects, lldpObjects(true))
	}
	if d == CDP || d == Both {
		objects = append(objects, cdpObjects())
	}
	return snmpagent.NewSchema(objects...)
}

// newScalar makes a read-only object with the instance 0: a column of a table of one row.
func newScalar(name, at string, get func(s *Switch) value) object {
	o := single.newColumn(0, name, func(s *Switch, _ struct{}) value { return get(s) })
	o.OID = snmpwire.MustOID(at)
	return o
}

// writableScalar makes a scalar that SET may write.
func writableScalar(
	name, at string,
	syntax snmpagent.Syntax,
	get func(s *Switch) value,
	set func(s *Switch, t tx, v value) status,
) object {
	o := single.newWritableColumn(0, name, syntax, func(s *Switch, _ struct{}) value {
		return get(s)
	},
		func(s *Switch, t tx, _ struct{}, v value) status { return set(s, t, v) })
	o.OID = snmpwire.MustOID(at)
	return o
}

// single is the table that scalars are columns of.
var single = table[struct{}]{
	count: func(*Switch) int { return 1 },
	row:   func(*Switch, int) struct{} { return struct{}{} },
	index: func(_ *Switch, _ struct{}, dst oid) oid { return append(dst, 0) },
}

// assignField sets a field so that it can be undone.
func assignField[T any](t tx, field *T, v T) status {
	old := *field
	t.Undo(func() { *field = old })
	*field = v
	return snmpwire.NoError
}

// table is an ordered list of rows.
type table[R any] struct {
	at    oid // of the entry
	count func(s *Switch) int
	row   func(s *Switch, i int) R
	index func(s *Switch, r R, dst oid) oid // appends the index of a row
}

// nextRow finds the first row after `after`.
func (t table[R]) nextRow(s *Switch, after, dst oid) (oid, bool) {
	base := len(dst)
	i := 0
	if len(after) > 0 {
		i = sort.Search(t.count(s), func(i int) bool {
			dst = t.index(s, t.row(s, i), dst[:base])
			return dst[base:].Compare(after) > 0
		})
	}
	if i >= t.count(s) {
		return dst[:base], false
	}
	return t.index(s, t.row(s, i), dst[:base]), true
}

// findRow returns the row of an instance.
func (t table[R]) findRow(s *Switch, inst oid) (R, bool) {
	i := sort.Search(t.count(s), func(i int) bool {
		s.scratch = t.index(s, t.row(s, i), s.scratch[:0])
		return s.scratch.Compare(inst) >= 0
	})
	if i < t.count(s) {
		r := t.row(s, i)
		if s.scratch = t.index(s, r, s.scratch[:0]); s.scratch.Compare(inst) == 0 {
			return r, true
		}
	}
	var none R
	return none, false
}

// newColumn makes a read-only column.
func (t table[R]) newColumn(n uint32, name string, get func(s *Switch, r R) value) object {
	return object{
		Name: name,
		OID:  t.at.Append(n),
		Next: t.nextRow,
		Get: func(s *Switch, inst oid) (value, bool) {
			r, ok := t.findRow(s, inst)
			if !ok {
				return value{}, false
			}
			return get(s, r), true
		},
	}
}

// newWritableColumn makes a column whose existing rows SET may write.
func (t table[R]) newWritableColumn(n uint32, name string, syntax snmpagent.Syntax, get func(s *Switch, r R) value,
	set func(s *Switch, t tx, r R, v value) status) object {
	o := t.newColumn(n, name, get)
	o.Syntax = syntax
	o.Set = func(s *Switch, x tx, inst oid, v value) status {
		r, ok := t.findRow(s, inst)
		if !ok {
			return snmpwire.NoCreation
		}
		return set(s, x, r, v)
	}
	return o
}

func integerSyntax(minimum, maximum int64) snmpagent.Syntax {
	return snmpagent.Syntax{
		Tag: snmpwire.Integer,
		Min: minimum,
		Max: maximum,
	}
}

// truthValue makes a TruthValue.
func truthValue(b bool) value {
	if b {
		return snmpwire.Int32(1)
	}
	return snmpwire.Int32(2)
}

func gaugeValue(n uint64) value {
	return snmpwire.Unsigned(snmpwire.Gauge32, n)
}
func timeTicksValue(n uint32) value {
	return snmpwire.Unsigned(snmpwire.TimeTicks, uint64(n))
}
func counter64Value(n uint64) value {
	return snmpwire.Unsigned(snmpwire.Counter64, n)
}

// constantColumn makes a column function of a value that is the same in every row.
func constantColumn[R any](v value) func(*Switch, R) value {
	return func(*Switch, R) value { return v }
}
