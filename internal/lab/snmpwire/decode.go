package snmpwire

import (
	"errors"
	"fmt"
)

// errShort is the fault of every length that points beyond its end.
var errShort = errors.New("BER: an element is longer than what contains it")

// reader walks the elements of one constructed value. pos counts from the
// start of the whole message, so that USM can find its digest again.
type reader struct {
	b   []byte
	pos int
}

// next takes one element off. Only definite lengths of up to four octets exist
// in SNMP (RFC 3417 section 8); non-minimal lengths are legal there.
func (r *reader) next() (Tag, reader, error) {
	if len(r.b) < 2 {
		return 0, reader{}, errShort
	}
	tag, n, head := Tag(r.b[0]), int(r.b[1]), 2
	if n >= 0x80 {
		k := n & 0x7f
		if k == 0 || k > 4 {
			return 0, reader{}, fmt.Errorf("BER: length octet %#x: only definite lengths of 1 to 4 octets are allowed", n)
		}
		if len(r.b) < 2+k {
			return 0, reader{}, errShort
		}
		n, head = 0, 2+k
		for _, c := range r.b[2:head] {
			n = n<<8 | int(c)
		}
	}
	if n < 0 || n > len(r.b)-head {
		return 0, reader{}, errShort
	}
	body := reader{r.b[head : head+n], r.pos + head}
	r.b, r.pos = r.b[head+n:], r.pos+head+n
	return tag, body, nil
}

// want takes one element off that must have the tag.
func (r *reader) want(tag Tag) (reader, error) {
	got, body, err := r.next()
	if err == nil && got != tag {
		err = fmt.Errorf("BER: tag %#x where %#x belongs", byte(got), byte(tag))
	}
	return body, err
}

// int32 takes an INTEGER off that must lie between min and max.
func (r *reader) int32(minimum, maximum int64) (int, error) {
	body, err := r.want(Integer)
	if err != nil {
		return 0, err
	}
	n, err := signed(body.b)
	if err == nil && (n < minimum || n > maximum) {
		err = fmt.Errorf("BER: INTEGER %d is outside %d..%d", n, minimum, maximum)
	}
	return int(n), err
}

// end refuses what is left over.
func (r *reader) end() error {
	if len(r.b) > 0 {
		return fmt.Errorf("BER: %d octets after the last element", len(r.b))
	}
	return nil
}

func signed(b []byte) (int64, error) {
	if len(b) == 0 || len(b) > 4 {
		return 0, fmt.Errorf("BER: INTEGER of %d octets", len(b))
	}
	n := int64(int8(b[0]))
	for _, c := range b[1:] {
		n = n<<8 | int64(c)
	}
	return n, nil
}

func unsigned(b []byte, octets int) (int64, error) {
	if len(b) == octets+1 && b[0] == 0 {
		b = b[1:]
	}
	if len(b) == 0 || len(b) > octets {
		return 0, fmt.Errorf("BER: unsigned number of %d octets where %d fit", len(b), octets)
	}
	var n uint64
	for _, c := range b {
		n = n<<8 | uint64(c)
	}
	return int64(n), nil
}

func decodeOID(b []byte) (OID, error) {
	if len(b) == 0 {
		return nil, errors.New("BER: OBJECT IDENTIFIER without content")
	}
	o := make(OID, 0, len(b)+1)
	for i := 0; i < len(b); {
		var arc uint64
		for {
			if i == len(b) {
				return nil, errShort
			}
			c := b[i]
			i++
			arc = arc<<7 | uint64(c&0x7f)
			if arc > 0xffffffff+80 {
				return nil, errors.New("BER: OBJECT IDENTIFIER arc above 32 bits")
			}
			if c < 0x80 {
				break
			}
		}
		if len(o) == 0 {
			first := min(arc/40, 2)
			o = append(o, uint32(first))
			arc -= first * 40
		}
		if arc > 0xffffffff || len(o) == MaxArcs {
			return nil, errors.New("BER: OBJECT IDENTIFIER too large")
		}
		o = append(o, uint32(arc))
	}
	return o, nil
}

// decodeValue does not copy octets: they belong to the message.
func decodeValue(tag Tag, b []byte) (Value, error) {
	v := Value{Tag: tag}
	var err error
	switch tag {
	case Integer:
		v.Int, err = signed(b)
	case Counter32, Gauge32, TimeTicks:
		v.Int, err = unsigned(b, 4)
	case Counter64:
		v.Int, err = unsigned(b, 8)
	case OctetString, Opaque:
		v.Bytes = b
	case IPAddress:
		if v.Bytes = b; len(b) != 4 {
			err = fmt.Errorf("BER: IpAddress of %d octets", len(b))
		}
	case ObjectID:
		v.OID, err = decodeOID(b)
	case Null, NoSuchObject, NoSuchInstance, EndOfMibView:
		if len(b) > 0 {
			err = fmt.Errorf("BER: %d octets in a value of tag %#x that has none", len(b), byte(tag))
		}
	default:
		err = fmt.Errorf("BER: unknown value tag %#x", byte(tag))
	}
	return v, err
}
