package snmpagent

import (
	"slices"
	"sort"
	"sync"

	"ctl.internal/internal/lab/snmpwire"
)

// Object is a scalar or a column of a table of a model M. Functions are called
// with the model locked.
type Object[M any] struct {
	Name   string       // descriptor in its MIB module, for messages
	OID    snmpwire.OID // without the instance
	Syntax Syntax       // what SET may write; its Tag is zero for read-only objects
	First  bool         // SET handles it before others of the same PDU: the RowStatus
	// Next appends the first instance after `after` to dst; after is empty for
	// the very first. It returns false if there is no next one.
	Next func(m M, after, dst snmpwire.OID) (snmpwire.OID, bool)
	// Get returns the value of an instance; false if it does not exist.
	Get func(m M, inst snmpwire.OID) (snmpwire.Value, bool)
	// Set assigns, and registers in tx how to undo it. The value has passed Syntax.
	Set func(m M, tx *Tx, inst snmpwire.OID, v snmpwire.Value) snmpwire.Status
}

// Syntax bounds what SET accepts.
type Syntax struct {
	Tag      snmpwire.Tag // zero: not writable
	Min, Max int64        // of a number, or of the octets of a string
}

func (s Syntax) checkValue(v snmpwire.Value) snmpwire.Status {
	if v.Tag != s.Tag {
		return snmpwire.WrongType
	}
	switch v.Tag {
	case snmpwire.OctetString:
		n := int64(len(v.Bytes))
		if n < s.Min || n > s.Max {
			return snmpwire.WrongLength
		}
	case snmpwire.ObjectID, snmpwire.IPAddress:
	default:
		if v.Int < s.Min || v.Int > s.Max {
			return snmpwire.WrongValue
		}
	}
	return snmpwire.NoError
}

// Schema is the ordered list of objects of a kind of device. One serves all
// models of that kind.
type Schema[M any] struct {
	objects []Object[M]
}

// NewSchema sorts the objects. It panics when two have the same OID or one
// lies below another, which is a mistake in the program.
func NewSchema[M any](objects ...[]Object[M]) *Schema[M] {
	s := &Schema[M]{objects: slices.Concat(objects...)}
	sort.Slice(s.objects, func(i, j int) bool {
		return s.objects[i].OID.Compare(s.objects[j].OID) < 0
	})
	for i := 1; i < len(s.objects); i++ {
		if s.objects[i].OID.HasPrefix(s.objects[i-1].OID) {
			panic("snmpagent: " + s.objects[i].Name + " lies within " + s.objects[i-1].Name)
		}
	}
	return s
}

// Bind makes the MIB of one model. lock guards the model.
func (s *Schema[M]) Bind(m M, lock sync.Locker) MIB {
	return &bound[M]{s, m, lock}
}

type bound[M any] struct {
	schema *Schema[M]
	model  M
	lock   sync.Locker
}

// findObject returns the place of the last object whose OID is not after name, and
// whether name is it or lies below it.
func (s *Schema[M]) findObject(name snmpwire.OID) (int, bool) {
	i := sort.Search(len(s.objects), func(i int) bool {
		return s.objects[i].OID.Compare(name) > 0
	}) - 1
	return i, i >= 0 && name.HasPrefix(s.objects[i].OID)
}

func (b *bound[M]) Get(name snmpwire.OID) snmpwire.Value {
	i, ok := b.schema.findObject(name)
	if !ok {
		return snmpwire.Value{Tag: snmpwire.NoSuchObject}
	}
	b.lock.Lock()
	defer b.lock.Unlock()
	o := &b.schema.objects[i]
	if v, ok := o.Get(b.model, name[len(o.OID):]); ok {
		return v
	}
	return snmpwire.Value{Tag: snmpwire.NoSuchInstance}
}

func (b *bound[M]) Next(name, dst snmpwire.OID) (snmpwire.OID, snmpwire.Value) {
	b.lock.Lock()
	defer b.lock.Unlock()
	i, within := b.schema.findObject(name)
	var after snmpwire.OID
	if within {
		after = name[len(b.schema.objects[i].OID):]
	} else {
		i++
	}
	for ; i < len(b.schema.objects); i++ {
		o := &b.schema.objects[i]
		found, ok := o.Next(b.model, after, append(dst[:0], o.OID...))
		after = nil
		if !ok {
			continue
		}
		if v, ok := o.Get(b.model, found[len(o.OID):]); ok {
			return found, v
		}
	}
	return append(dst[:0], name...), snmpwire.Value{Tag: snmpwire.EndOfMibView}
}

// MIB is an ordered tree of objects. Its methods may be called at the same time.
type MIB interface {
	// Get returns the value of an instance, or NoSuchObject or NoSuchInstance.
	Get(name snmpwire.OID) snmpwire.Value
	// Next returns the first instance after name, its name appended to
	// dst[:0]; the value is EndOfMibView if there is no next instance.
	Next(name, dst snmpwire.OID) (snmpwire.OID, snmpwire.Value)
	// Set does all of the assignments or none, as if at the same time
	// (RFC 3416 section 4.2.5). On failure it returns the status and the
	// 1-based place of the variable binding at fault.
	Set(list []snmpwire.VarBind) (snmpwire.Status, int)
}
