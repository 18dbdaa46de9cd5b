package feature

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Version is major.minor.micro.qualifier as OSGi and Karaf order it: numbers
// first, then the qualifier as text. Missing parts are zero.
type Version struct {
	Number    [3]int
	Qualifier string
}

// ParseVersion reads a version, such as 1, 1.2, 1.2.3 or 1.2.3.rc1.
func ParseVersion(s string) (Version, error) {
	var v Version
	parts := strings.SplitN(s, ".", 4)
	for i, p := range parts {
		if i == 3 {
			if p == "" || strings.ContainsAny(p, " ,[]()/") {
				return Version{}, versionError(s)
			}
			v.Qualifier = p
			break
		}
		n, err := strconv.ParseUint(p, 10, 31)
		if err != nil {
			return Version{}, versionError(s)
		}
		v.Number[i] = int(n)
	}
	return v, nil
}

func versionError(s string) error {
	return fmt.Errorf("%q is not a version such as 1.2.0", s)
}

// Compare is negative, zero or positive as v is below, equal to or above o.
func (v Version) Compare(o Version) int {
	return cmp.Or(
		slices.Compare(v.Number[:], o.Number[:]),
		strings.Compare(v.Qualifier, o.Qualifier),
	)
}

// String writes all three numbers.
func (v Version) String() string {
	s := fmt.Sprintf("%d.%d.%d", v.Number[0], v.Number[1], v.Number[2])
	if v.Qualifier != "" {
		s += "." + v.Qualifier
	}
	return s
}

// Range is a set of versions in Karaf's syntax: empty = any, "1.2" = that or
// higher, "[1,2)" with square brackets inclusive and round ones not.
type Range struct {
	low, high         Version
	lowOpen, highOpen bool
	bounded           bool // high applies
	text              string
}

// ParseRange reads a range.
func ParseRange(s string) (Range, error) {
	s = strings.TrimSpace(s)
	r := Range{text: s}
	if s == "" {
		return r, nil
	}
	var err error
	if !strings.HasPrefix(s, "[") && !strings.HasPrefix(s, "(") {
		r.low, err = ParseVersion(s)
		return r, err
	}
	end := s[len(s)-1]
	low, high, comma := strings.Cut(s[1:max(1, len(s)-1)], ",")
	if !comma || (end != ']' && end != ')') {
		return Range{}, fmt.Errorf(
			"%q is not a version range such as 1.2 (1.2 or higher), [1.2,2) or [1.2,1.2]",
			s,
		)
	}
	r.lowOpen, r.highOpen, r.bounded = s[0] == '(', end == ')', true
	if r.low, err = ParseVersion(strings.TrimSpace(low)); err != nil {
		return Range{}, err
	}
	if r.high, err = ParseVersion(strings.TrimSpace(high)); err != nil {
		return Range{}, err
	}
	d := r.low.Compare(r.high)
	if d > 0 || (d == 0 && (r.lowOpen || r.highOpen)) {
		return Range{}, fmt.Errorf("no version is in the range %s", s)
	}
	return r, nil
}

// Exactly is the range that holds one version.
func Exactly(v Version) Range {
	return Range{
		low:     v,
		high:    v,
		bounded: true,
		text:    "[" + v.String() + "," + v.String() + "]",
	}
}

// Contains reports whether a version is in the range.
func (r Range) Contains(v Version) bool {
	if d := v.Compare(r.low); d < 0 || (d == 0 && r.lowOpen) {
		return false
	}
	if !r.bounded {
		return true
	}
	d := v.Compare(r.high)
	return d < 0 || (d == 0 && !r.highOpen)
}

// String is the range as it was written; empty = any.
func (r Range) String() string { return r.text }

// MarshalText writes the range for the stored state.
func (r Range) MarshalText() ([]byte, error) {
	return []byte(r.text), nil
}

// UnmarshalText reads what MarshalText wrote.
func (r *Range) UnmarshalText(b []byte) (err error) {
	*r, err = ParseRange(string(b))
	return err
}
