package journal

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxNode is the highest MAC address.
const maxNode = 1<<48 - 1

// decode reads a record. One that cannot be settled (of another release, or damaged) is
// refused here, before its switch waits for it.
func decode(key string, value []byte) (r Record, err error) {
	if err := json.Unmarshal(value, &r); err != nil {
		return r, err
	}
	switch {
	case openPrefix+r.ID != key:
		return r, fmt.Errorf("it says that it is %.60q", r.ID)
	case r.Node == 0 || r.Node > maxNode:
		return r, fmt.Errorf("it is of the switch %d, which is none", r.Node)
	case r.Operation != nil:
		return r, r.Operation.check()
	}
	for _, s := range r.Steps {
		for _, a := range s.Assigns {
			if err := a.check(); err != nil {
				return r, err
			}
		}
	}
	return r, nil
}

// check refuses an operation without what it is about.
func (o *Operation) check() error {
	ok := false
	switch o.Name {
	case "WriteVlan", "DeleteVlan":
		ok = o.VLAN != nil
	case "WriteFdbEntry", "DeleteFdbEntry":
		ok = o.FDB != nil
	case "WriteArpEntry", "DeleteArpEntry":
		ok = o.ARP != nil
	case "WriteStp", "ApplyAcl":
		ok = true
	}
	if !ok {
		return fmt.Errorf("the operation %.40q, or what it is about, is not known", o.Name)
	}
	return nil
}

func (a Assignment) check() error {
	if !object(a.OID) {
		return fmt.Errorf("%.60q is no object", a.OID)
	}
	for _, v := range []*string{a.From, a.To} {
		if v == nil {
			continue
		}
		var err error
		switch a.Kind {
		case Octets:
			_, err = hex.DecodeString(*v)
		case Gauge:
			_, err = strconv.ParseUint(*v, 10, 32)
		case Integer, Row, ARP, FDB:
			_, err = strconv.ParseInt(*v, 10, 32)
		default:
			err = errors.New("its kind is not known")
		}
		if err != nil {
			return fmt.Errorf("%s cannot be %.40q: %w", a.OID, *v, err)
		}
	}
	return nil
}

// object reports whether an object identifier is one (RFC 2578, 3.5).
func object(oid string) bool {
	arcs := strings.Split(strings.TrimPrefix(oid, "."), ".")
	return len(arcs) <= 128 && !slices.ContainsFunc(arcs, func(s string) bool {
		_, err := strconv.ParseUint(s, 10, 32)
		return err != nil
	})
}
