package realm

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"ctl.internal/internal/nearest"
	"ctl.internal/sdk/fault"
)

// Reader reads the properties of an instance and collects what is wrong with them,
// so that an operator sees every fault of sec.ini at once. Read each property that
// the kind knows, then ask Err.
type Reader struct {
	c      Config
	known  []string
	faults fault.List
}

// Read returns a reader of c.
func Read(c Config) *Reader { return &Reader{c: c} }

// Get returns a property, whole; ok is false when it is not written.
func (r *Reader) Get(name string) (p Property, ok bool) {
	r.known = append(r.known, name)
	p, ok = r.c.Properties[name]
	return p, ok
}

// String returns the value of a property, or otherwise when it is not written or empty.
func (r *Reader) String(name, otherwise string) string {
	if p, ok := r.Get(name); ok && p.Value != "" {
		return p.Value
	}
	return otherwise
}

// Needed returns the value of a property that must be written; what says what to write.
func (r *Reader) Needed(name, what string) string {
	v := r.String(name, "")
	if v == "" {
		r.faults = append(
			r.faults,
			fault.New(
				fault.Missing,
				"realm %s needs `%s.%s = ...`: %s",
				r.c.Name,
				r.c.Name,
				name,
				what,
			),
		)
	}
	return v
}

// Bool returns a property that is true or false.
func (r *Reader) Bool(name string, otherwise bool) bool {
	p, ok := r.Get(name)
	if !ok || p.Value == "" {
		return otherwise
	}
	v, err := strconv.ParseBool(strings.ToLower(p.Value))
	if err != nil {
		r.Fault(name, "%q is neither true nor false", p.Value)
	}
	return v
}

// Int returns a property that is a whole number from least to most.
func (r *Reader) Int(name string, otherwise, least, most int) int {
	return r.readNumber(name, "number", otherwise, least, most)
}

func (r *Reader) readNumber(name, what string, otherwise, least, most int) int {
	p, ok := r.Get(name)
	if !ok || p.Value == "" {
		return otherwise
	}
	v, err := strconv.Atoi(p.Value)
	if err != nil || v < least || v > most {
		r.Fault(name, "%q is not a %s; write one from %d to %d", p.Value, what, least, most)
		return otherwise
	}
	return v
}

// Duration returns a property that is a number of milliseconds up to an hour.
func (r *Reader) Duration(name string, otherwise time.Duration) time.Duration {
	return time.Duration(r.readNumber(
		name,
		"number of milliseconds",
		int(otherwise/time.Millisecond),
		1,
		3_600_000,
	)) * time.Millisecond
}

// Pairs returns a property of the form key:value, key:value; nil when not written.
// A pair may be quoted as a whole or in its parts: "key:value", "key":"value".
func (r *Reader) Pairs(name string) map[string]string {
	p, ok := r.Get(name)
	if !ok || len(p.Map) > 0 {
		return p.Map
	}
	if p.Value == "" {
		return nil
	}
	out := map[string]string{}
	for _, item := range p.List {
		at := strings.LastIndexByte(item, ':') // what is left may hold colons, a role does not
		if at < 1 || at == len(item)-1 {
			r.Fault(
				name,
				"%q is not of the form key:value; write \"key\":\"value\", with commas between several",
				item,
			)
			return nil
		}
		out[strings.TrimSpace(item[:at])] = strings.TrimSpace(item[at+1:])
	}
	return out
}

// Fault records that a property is wrong, with the place where it is written.
func (r *Reader) Fault(name, format string, args ...any) {
	f := fault.At(fault.Invalid, r.c.Properties[name].Origin, format, args...)
	f.Text = r.c.Name + "." + name + ": " + f.Text
	r.faults = append(r.faults, f)
}

// Err returns all faults that were found, including unknown properties; nil if there are no faults.
func (r *Reader) Err() error {
	for _, name := range slices.Sorted(maps.Keys(r.c.Properties)) {
		if !slices.Contains(r.known, name) {
			r.faults = append(r.faults, fault.At(fault.Unknown, r.c.Properties[name].Origin,
				"%s.%s: realms of kind %s have no such property%s", r.c.Name, name, r.c.Kind, nearest.Hint(name, r.known)))
		}
	}
	return r.faults.Err()
}
