package yang

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// number is a whole number of 64 bits with its sign apart; of a decimal64 the digits after the point are counted in.
type number struct {
	Value    uint64
	Negative bool
}

func (n number) compare(o number) int {
	switch {
	case n.Negative != o.Negative && n.Value|o.Value != 0:
		if n.Negative {
			return -1
		}
		return 1
	case n.Negative:
		return cmp.Compare(o.Value, n.Value)
	}
	return cmp.Compare(n.Value, o.Value)
}

// formatDecimal writes the number with so many digits after the point.
func (n number) formatDecimal(digits int) string {
	s := strconv.FormatUint(n.Value, 10)
	if digits > 0 {
		for len(s) <= digits {
			s = "0" + s
		}
		s = s[:len(s)-digits] + "." + strings.TrimRight(s[len(s)-digits:], "0")
		if s[len(s)-1] == '.' {
			s += "0"
		}
	}
	if n.Negative && n.Value != 0 {
		return "-" + s
	}
	return s
}

// String writes a whole number.
func (n number) String() string { return n.formatDecimal(0) }

// span is one interval that is allowed.
type span struct{ min, max number }

// spans are disjoint intervals in ascending order; none allow everything.
type spans []span

func (s spans) containsNumber(v number) bool {
	return len(s) == 0 ||
		slices.ContainsFunc(s, func(r span) bool {
			return r.min.compare(v) <= 0 && v.compare(r.max) <= 0
		})
}

func (s spans) formatSpans(digits int) string {
	parts := make([]string, len(s))
	for i, r := range s {
		parts[i] = r.min.formatDecimal(digits)
		if r.min != r.max {
			parts[i] += ".." + r.max.formatDecimal(digits)
		}
	}
	return strings.Join(parts, "|")
}

// parseSpans reads the argument of range or length, which may only narrow what is allowed already. It returns what is
// wrong.
func parseSpans(text string, digits int, outer spans) (out spans, why string) {
	for part := range strings.SplitSeq(text, "|") {
		low, high, both := strings.Cut(part, "..")
		var r span
		var ok bool
		if r.min, ok = parseBound(low, digits, outer); !ok {
			return nil, strconv.Quote(strings.TrimSpace(low)) + " is no bound here"
		}
		r.max = r.min
		if both {
			if r.max, ok = parseBound(high, digits, outer); !ok {
				return nil, strconv.Quote(strings.TrimSpace(high)) + " is no bound here"
			}
		}
		if r.min.compare(r.max) > 0 || len(out) > 0 && out[len(out)-1].max.compare(r.min) >= 0 {
			return nil, "the intervals of " + strconv.Quote(text) + " must ascend"
		}
		if !slices.ContainsFunc(outer.joined(), func(o span) bool {
			return o.min.compare(r.min) <= 0 && r.max.compare(o.max) <= 0
		}) {
			return nil, strconv.Quote(strings.TrimSpace(part)) + " is not within what the type allows, " + outer.formatSpans(digits)
		}
		out = append(out, r)
	}
	return out, ""
}

// joined joins intervals that follow each other without a gap.
func (s spans) joined() spans {
	var out spans
	for _, r := range s {
		n := len(out)
		if n > 0 &&
			!out[n-1].max.Negative &&
			!r.min.Negative &&
			out[n-1].max.Value+1 == r.min.Value {
			out[n-1].max = r.max
			continue
		}
		out = append(out, r)
	}
	return out
}

func parseBound(s string, digits int, outer spans) (number, bool) {
	switch s = strings.TrimSpace(s); s {
	case "min":
		return outer[0].min, true
	case "max":
		return outer[len(outer)-1].max, true
	}
	if digits > 0 {
		return parseDecimalNumber(s, digits)
	}
	return wholeNumber(s)
}

// parseDecimalNumber reads a decimal number with at most so many digits after the point.
func parseDecimalNumber(s string, digits int) (number, bool) {
	whole, frac, point := strings.Cut(s, ".")
	frac = strings.TrimRight(frac, "0")
	if point && strings.HasSuffix(s, ".") ||
		len(frac) > digits ||
		strings.Trim(frac, "0123456789") != "" {
		return number{}, false
	}
	if _, ok := wholeNumber(whole); !ok {
		return number{}, false
	}
	v, ok := wholeNumber(whole + frac + strings.Repeat("0", digits-len(frac)))
	return v, ok && v.Value <= math.MaxInt64+1 && (v.Negative || v.Value <= math.MaxInt64)
}

// limits are what the built-in types allow.
var limits = map[Base]spans{
	Int8:      signedRange(8),
	Int16:     signedRange(16),
	Int32:     signedRange(32),
	Int64:     signedRange(64),
	Uint8:     unsignedRange(8),
	Uint16:    unsignedRange(16),
	Uint32:    unsignedRange(32),
	Uint64:    unsignedRange(64),
	Decimal64: signedRange(64),
}

func signedRange(bits int) spans {
	return spans{{number{1 << (bits - 1), true}, number{1<<(bits-1) - 1, false}}}
}

func unsignedRange(bits int) spans {
	return spans{{number{}, number{math.MaxUint64 >> (64 - bits), false}}}
}
