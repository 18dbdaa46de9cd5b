package faults

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"ctl.internal/internal/lab/snmpwire"
)

// field is one word of the text form.
type field struct {
	name string
	flag *bool
	get  func() string // empty: not set
	set  func(string) error
}

func (s *Set) fields() []field {
	flag := func(name string, p *bool) field {
		return field{
			name: name,
			flag: p,
		}
	}
	status := func(name string, p *snmpwire.Status) field {
		return newWordField(name, p, snmpwire.Status.String, snmpwire.ParseStatus)
	}
	return []field{
		flag("silent", &s.Silent), newNumberField("loss", &s.Loss, 100), newWordField(
			"delay",
			&s.Delay,
			time.Duration.String,
			parseDelay,
		), flag("duplicate", &s.Duplicate),
		newNumberField("toobig", &s.TooBig, 1<<16), flag("wrongid", &s.WrongID), flag("loop", &s.Loop), flag("back", &s.Back),
		flag("wrongtype", &s.WrongType), newSubtreesField("missing", &s.Missing), newSubtreesField("within", &s.Within), flag("truncate", &s.Truncate), flag("garbage", &s.Garbage),
		flag("huge", &s.Huge), flag("nobulk", &s.NoBulk), status("status", &s.Status), status("setstatus", &s.SetStatus),
		flag("setignore", &s.SetIgnore), flag("setmute", &s.SetMute),
	}
}

// newWordField is a field of one value, whose zero is the one that is not set.
func newWordField[T comparable](
	name string,
	p *T,
	show func(T) string,
	parse func(string) (T, error),
) field {
	return field{name, nil, func() string {
		var none T
		if *p == none {
			return ""
		}
		return show(*p)
	}, func(v string) (err error) {
		*p, err = parse(v)
		return err
	}}
}

func newNumberField(name string, p *int, limit int) field {
	return newWordField(name, p, strconv.Itoa, func(v string) (int, error) {
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 || n > limit {
			return 0, fmt.Errorf("%s=%.20q: a number from 0 to %d belongs here", name, v, limit)
		}
		return n, nil
	})
}

func parseDelay(v string) (time.Duration, error) {
	d, err := time.ParseDuration(v)
	if err != nil || d < 0 || d > time.Hour {
		return 0, fmt.Errorf("delay=%.20q: a duration as 250ms, at most 1h, belongs here", v)
	}
	return d, nil
}

func newSubtreesField(name string, list *[]snmpwire.OID) field {
	return field{name, nil, func() string {
		parts := make([]string, len(*list))
		for i, o := range *list {
			parts[i] = o.String()
		}
		return strings.Join(parts, "+")
	}, func(v string) error {
		for _, p := range strings.Split(v, "+") {
			o, err := snmpwire.ParseOID(p)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			*list = append(*list, o)
		}
		return nil
	}}
}

func formatUsage(fields []field) string {
	words := make([]string, len(fields))
	for i, f := range fields {
		if words[i] = f.name; f.flag == nil {
			words[i] += "=…"
		}
	}
	return strings.Join(words, " ")
}
