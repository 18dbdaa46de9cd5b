package snmp

import (
	"context"
	"errors"
	"strings"

	"github.com/gosnmp/gosnmp"
)

// bridgeMIB is where BRIDGE-MIB and Q-BRIDGE-MIB are.
const bridgeMIB = ".1.3.6.1.2.1.17."

func isBridgeObject(oid string) bool {
	return strings.HasPrefix("."+strings.TrimPrefix(oid, ".")+".", bridgeMIB)
}

// apart is a part of a request that goes to one context: the target with it, and the places of its objects.
type apart struct {
	target Target
	places []int
}

// splitByContext divides objects by the context they are asked in. An agent may have its bridge in one of its own.
func splitByContext(t Target, oids []string) []apart {
	own := t
	own.BridgeContext = ""
	if t.Version != "3" || t.BridgeContext == "" || t.BridgeContext == t.Context {
		places := make([]int, len(oids))
		for i := range places {
			places[i] = i
		}
		return []apart{{own, places}}
	}
	bridge := own
	bridge.Context = t.BridgeContext
	parts := []apart{{target: own}, {target: bridge}}
	for i, oid := range oids {
		to := &parts[0]
		if isBridgeObject(oid) {
			to = &parts[1]
		}
		to.places = append(to.places, i)
	}
	var out []apart
	for _, p := range parts {
		if len(p.places) > 0 {
			out = append(out, p)
		}
	}
	return out
}

// selectObjects are the objects of a part.
func (a apart) selectObjects(oids []string) []string {
	out := make([]string, len(a.places))
	for i, at := range a.places {
		out[i] = oids[at]
	}
	return out
}

// getInContexts is Get of objects that may be in several contexts.
func (c *Client) getInContexts(ctx context.Context, t Target, oids []string) ([]Value, error) {
	values := make([]Value, len(oids))
	for _, part := range splitByContext(t, oids) {
		var some []Value
		err := c.useSession(ctx, part.target, func(s *session) (err error) {
			some, err = s.getInstances(ctx, part.selectObjects(oids))
			return err
		})
		if err != nil {
			return nil, err
		}
		for i, at := range part.places {
			values[at] = some[i]
		}
	}
	return values, nil
}

// walkInContexts is WalkFrom and WalkAfter of columns that may be in several contexts.
func (c *Client) walkInContexts(
	ctx context.Context,
	t Target,
	after []uint32,
	rows int,
	columns []string,
	each func(column int, index []uint32, v Value) error,
) error {
	var loop error
	for _, part := range splitByContext(t, columns) {
		err := c.useSession(ctx, part.target, func(s *session) error {
			return s.walkColumns(ctx, part.selectObjects(columns), after, rows, func(column int, index []uint32, v Value) error {
				return each(part.places[column], index, v)
			})
		})
		var cut *LoopError
		switch {
		case errors.As(err, &cut): // all that can be read was
			loop = err
		case err != nil:
			return err
		}
	}
	return loop
}

// setInContext is Set; the objects of one SET are all in one context.
func (c *Client) setInContext(ctx context.Context, t Target, bindings []gosnmp.SnmpPDU) error {
	part := splitByContext(t, []string{bindings[0].Name})[0]
	return c.useSession(ctx, part.target, func(s *session) error {
		return s.setBindings(ctx, bindings)
	})
}
