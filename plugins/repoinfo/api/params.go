package api

import (
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"ctl.internal/sdk/fault"
)

// params are the parameters of a request. Unknown ones are let pass: clients of
// the older service send some.
type params struct{ values url.Values }

func bad(name, text string, args ...any) error { return fault.At(fault.Invalid, name, text, args...) }

// one returns a parameter, empty when it is absent. Given empty or twice, it is
// an error.
func (p params) one(name string) (string, error) {
	v, given := p.values[name]
	switch {
	case !given:
		return "", nil
	case len(v) > 1:
		return "", bad(name, "Parameter %s is given %d times.", name, len(v))
	case v[0] == "":
		return "", bad(name, "Parameter %s is empty.", name)
	}
	return v[0], nil
}

func (p params) required(name string) (string, error) {
	v, err := p.one(name)
	if err == nil && v == "" {
		err = fault.At(fault.Missing, name, "Missing parameter %s.", name)
	}
	return v, err
}

// text is a free value that is only compared with others.
func (p params) text(name string) (string, error) {
	v, err := p.one(name)
	if err == nil && (len(v) > 1024 || !utf8.ValidString(v) || strings.ContainsFunc(v, unicode.IsControl)) {
		err = bad(name, "Parameter %s is longer than 1024 bytes, is not UTF-8 or holds control characters.", name)
	}
	return v, err
}

func (p params) flag(name string, absent bool) (bool, error) {
	v, err := p.one(name)
	switch {
	case err != nil:
		return false, err
	case v == "":
		return absent, nil
	case v == "true" || v == "1":
		return true, nil
	case v == "false" || v == "0":
		return false, nil
	}
	return false, bad(name, "Parameter %s is neither true nor false.", name)
}

func (p params) number(name string, most int) (int, error) {
	v, err := p.one(name)
	if err != nil || v == "" {
		return 0, err
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > most {
		return 0, bad(name, "Parameter %s is no number from 1 to %d.", name, most)
	}
	return n, nil
}

// moment reads seconds since the epoch, an RFC 3339 time, or a day (UTC). A day
// means its first second, or its last when end is set.
func (p params) moment(name string, end bool) (int64, error) {
	v, err := p.one(name)
	if err != nil || v == "" {
		return 0, err
	}
	if n, err := strconv.ParseInt(v, 10, 64); err == nil && n >= 0 && n < 1<<40 {
		return n, nil
	}
	if t, err := time.Parse(time.DateOnly, v); err == nil && t.Unix() >= 0 {
		if end {
			t = t.Add(24*time.Hour - time.Second)
		}
		return t.Unix(), nil
	}
	// an unescaped "+" of a zone arrives as a blank
	if t, err := time.Parse(time.RFC3339, strings.ReplaceAll(v, " ", "+")); err == nil && t.Unix() >= 0 {
		return t.Unix(), nil
	}
	return 0, bad(name, "Parameter %s is no time: give seconds since 1970, 2016-12-31 or 2016-12-31T12:00:00Z.", name)
}
