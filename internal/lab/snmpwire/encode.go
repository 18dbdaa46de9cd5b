package snmpwire

// appendHead writes a tag and a minimal length.
func appendHead(dst []byte, tag Tag, n int) []byte {
	dst = append(dst, byte(tag))
	switch {
	case n < 0x80:
		return append(dst, byte(n))
	case n < 0x100:
		return append(dst, 0x81, byte(n))
	case n < 0x10000:
		return append(dst, 0x82, byte(n>>8), byte(n))
	}
	return append(dst, 0x83, byte(n>>16), byte(n>>8), byte(n))
}

// headSize is the number of octets appendHead writes.
func headSize(n int) int {
	switch {
	case n < 0x80:
		return 2
	case n < 0x100:
		return 3
	case n < 0x10000:
		return 4
	}
	return 5
}

func arcSize(a uint64) int {
	n := 1
	for a >>= 7; a > 0; a >>= 7 {
		n++
	}
	return n
}

func appendArc(dst []byte, a uint64) []byte {
	for shift := 7 * (arcSize(a) - 1); shift > 0; shift -= 7 {
		dst = append(dst, byte(a>>shift)|0x80)
	}
	return append(dst, byte(a&0x7f))
}

// head2 folds the first two arcs into one; an OID shorter than two arcs
// cannot be written and is filled with zeros.
func head2(o OID) (uint64, OID) {
	switch len(o) {
	case 0:
		return 0, nil
	case 1:
		return uint64(o[0]) * 40, nil
	}
	return uint64(o[0])*40 + uint64(o[1]), o[2:]
}

func oidSize(o OID) int {
	first, rest := head2(o)
	n := arcSize(first)
	for _, a := range rest {
		n += arcSize(uint64(a))
	}
	return n
}

func appendOID(dst []byte, o OID) []byte {
	dst = appendHead(dst, ObjectID, oidSize(o))
	first, rest := head2(o)
	dst = appendArc(dst, first)
	for _, a := range rest {
		dst = appendArc(dst, uint64(a))
	}
	return dst
}

// intSize is the number of octets of a two's complement number.
func intSize(n int64) int {
	k := 1
	for k < 8 && (n>>(8*k-1) != 0 && n>>(8*k-1) != -1) {
		k++
	}
	return k
}

func appendInt(dst []byte, tag Tag, n int64) []byte {
	k := intSize(n)
	dst = appendHead(dst, tag, k)
	for k--; k >= 0; k-- {
		dst = append(dst, byte(n>>(8*k)))
	}
	return dst
}

// bigCounter reports a Counter64 whose top bit is set: it needs a ninth octet.
func bigCounter(v Value) bool { return v.Tag == Counter64 && v.Int < 0 }

func valueSize(v Value) int {
	switch v.Tag {
	case Integer, Counter32, Gauge32, TimeTicks, Counter64:
		if bigCounter(v) {
			return 9
		}
		return intSize(v.Int)
	case ObjectID:
		return oidSize(v.OID)
	}
	return len(v.Bytes)
}

func appendValue(dst []byte, v Value) []byte {
	switch v.Tag {
	case Integer, Counter32, Gauge32, TimeTicks, Counter64:
		if !bigCounter(v) {
			return appendInt(dst, v.Tag, v.Int)
		}
		dst = append(dst, byte(Counter64), 9, 0)
		for k := 7; k >= 0; k-- {
			dst = append(dst, byte(uint64(v.Int)>>(8*k)))
		}
		return dst
	case ObjectID:
		return appendOID(dst, v.OID)
	}
	return append(appendHead(dst, v.Tag, len(v.Bytes)), v.Bytes...)
}

// AppendVarBind writes one variable binding.
func AppendVarBind(dst []byte, name OID, v Value) []byte {
	o, n := oidSize(name), valueSize(v)
	dst = appendHead(dst, Sequence, headSize(o)+o+headSize(n)+n)
	return appendValue(appendOID(dst, name), v)
}

// AppendVarBinds writes a list of variable bindings, without the SEQUENCE around it.
func AppendVarBinds(dst []byte, list []VarBind) []byte {
	for _, vb := range list {
		dst = AppendVarBind(dst, vb.Name, vb.Value)
	}
	return dst
}

// wrap puts a header before content.
func wrap(tag Tag, content []byte) []byte {
	return append(appendHead(make([]byte, 0, len(content)+5), tag, len(content)), content...)
}
