// Package snmprec is a MIB of values that do not change: those of a recording of a real agent (.snmprec), or made for a test.
package snmprec

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"ctl.internal/internal/lab/snmpwire"
)

// MIB is the values in the order of their names. It implements snmpagent.MIB; nothing in it can be set.
type MIB struct{ rows []snmpwire.VarBind }

// New makes a MIB of values, which it sorts.
func New(rows []snmpwire.VarBind) *MIB {
	slices.SortFunc(rows, func(a, b snmpwire.VarBind) int {
		return a.Name.Compare(b.Name)
	})
	return &MIB{rows}
}

// maxLine bounds a line of a recording, in octets.
const maxLine = 1 << 20

// Read reads a recording: a line is "oid|tag|value", where a tag ends in x if the value is in hexadecimal. Lines that have
// another form belong to a text with a line end in it, and are left out.
func Read(r io.Reader) (*MIB, error) {
	var rows []snmpwire.VarBind
	s := bufio.NewScanner(r)
	s.Buffer(nil, maxLine)
	for s.Scan() {
		parts := strings.SplitN(s.Text(), "|", 3)
		if len(parts) != 3 {
			continue
		}
		name, err := snmpwire.ParseOID(parts[0])
		if err != nil {
			continue
		}
		v, err := value(parts[1], parts[2])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", parts[0], err)
		}
		rows = append(rows, snmpwire.VarBind{
			Name:  name,
			Value: v,
		})
	}
	return New(rows), s.Err()
}

func value(tag, text string) (snmpwire.Value, error) {
	n, err := strconv.Atoi(strings.TrimRight(strings.TrimSuffix(tag, ":numeric"), "xe"))
	if err != nil {
		return snmpwire.Value{}, fmt.Errorf("%.20q is not a tag: %w", tag, err)
	}
	switch v := snmpwire.Tag(n); v {
	case snmpwire.OctetString:
		if !strings.HasSuffix(tag, "x") {
			return snmpwire.Text(text), nil
		}
		b, err := hex.DecodeString(text)
		return snmpwire.Octets(b), err
	case snmpwire.ObjectID:
		o, err := snmpwire.ParseOID(text)
		return snmpwire.Object(o), err
	case snmpwire.IPAddress:
		return snmpwire.Value{
			Tag:   v,
			Bytes: ipAddress(text),
		}, nil
	default:
		i, err := strconv.ParseInt(text, 10, 64)
		if err != nil { // an agent that answers another type than it should
			return snmpwire.Text(text), nil
		}
		return snmpwire.Value{Tag: v, Int: i}, nil
	}
}

// ipAddress is an address in dotted or hexadecimal form; another text, as some recorders write, is 0.0.0.0.
func ipAddress(text string) []byte {
	a, err := netip.ParseAddr(text)
	if err == nil && a.Is4() {
		return a.AsSlice()
	}
	if b, err := hex.DecodeString(text); err == nil && len(b) == 4 {
		return b
	}
	return make([]byte, 4)
}

// Get implements snmpagent.MIB.
func (m *MIB) Get(name snmpwire.OID) snmpwire.Value {
	i, ok := m.find(name)
	if !ok {
		return snmpwire.Value{Tag: snmpwire.NoSuchInstance}
	}
	return m.rows[i].Value
}

// Next implements snmpagent.MIB.
func (m *MIB) Next(name, dst snmpwire.OID) (snmpwire.OID, snmpwire.Value) {
	i, ok := m.find(name)
	if ok {
		i++
	}
	if i == len(m.rows) {
		return append(dst[:0], name...), snmpwire.Value{Tag: snmpwire.EndOfMibView}
	}
	return append(dst[:0], m.rows[i].Name...), m.rows[i].Value
}

// Set implements snmpagent.MIB.
func (m *MIB) Set([]snmpwire.VarBind) (snmpwire.Status, int) {
	return snmpwire.NotWritable, 1
}

func (m *MIB) find(name snmpwire.OID) (int, bool) {
	return slices.BinarySearchFunc(m.rows, name, func(v snmpwire.VarBind, n snmpwire.OID) int {
		return v.Name.Compare(n)
	})
}
