package writes

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ctl.internal/plugins/switch/mib"
)

// maxNode is the highest MAC address.
const maxNode = 1<<48 - 1

// decodeDone reads a record of what can be undone.
func decodeDone(id string, value []byte) (r Record, err error) {
	if err := json.Unmarshal(value, &r); err != nil {
		return r, err
	}
	if r.ID != id {
		return r, fmt.Errorf("it says that it is %.60q", r.ID)
	}
	return r, r.check()
}

// decodePlanned reads a record of a plan.
func decodePlanned(key string, value []byte) (r Record, err error) {
	if err := json.Unmarshal(value, &r); err != nil {
		return r, err
	}
	if plannedKey(r.Operation.Group, r.Node, r.ID) != key {
		return r, fmt.Errorf("it says that it is %.60q", r.ID)
	}
	return r, r.check()
}

// decodeRecord reads a record. One that cannot be repaired (of another release, or damaged) is
// refused here: it is shown, and its switch does not wait for it.
func decodeRecord(key string, value []byte) (r Record, err error) {
	if err := json.Unmarshal(value, &r); err != nil {
		return r, err
	}
	if keyOf(r.Node, r.ID) != key {
		return r, fmt.Errorf("it says that it is %.60q", r.ID)
	}
	return r, r.check()
}

func (r *Record) check() error {
	switch {
	case r.Node > maxNode:
		return fmt.Errorf("it has the invalid switch id %d", r.Node)
	case !slices.Contains([]State{Queued, Sent, Done, Failed, Unknown}, r.State):
		return fmt.Errorf("the state %.40q is not known", r.State)
	}
	for _, s := range r.Steps {
		for _, a := range s.Assigns {
			if err := a.check(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a Assignment) check() error {
	if !isObjectID(a.OID) {
		return fmt.Errorf("%.60q is no object", a.OID)
	}
	if _, err := hex.DecodeString(a.Mask); err != nil {
		return fmt.Errorf("%s cannot have the mask %.40q: %w", a.OID, a.Mask, err)
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

// isObjectID reports whether an object identifier is one (RFC 2578, 3.5).
func isObjectID(oid string) bool {
	_, ok := mib.Under("", "."+strings.TrimPrefix(oid, "."), nil)
	return ok
}
