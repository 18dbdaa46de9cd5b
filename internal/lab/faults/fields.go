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
	number := func(name string, p *int, limit int) field {
		return field{name, nil, func() string {
			if *p == 0 {
				return ""
			}
			return strconv.Itoa(*p)
		}, func(v string) error {
			n, err := strconv.Atoi(v)
			if err != nil || n < 0 || n > limit {
				return fmt.Errorf("%s=%.20q: a number from 0 to %d belongs here", name, v, limit)
			}
			*p = n
			return nil
		}}
	}
	status := func(name string, p *snmpwire.Status) field {
		return field{name, nil, func() string {
			if *p == snmpwire.NoError {
				return ""
			}
			return p.String()
		}, func(v string) (err error) {
			*p, err = snmpwire.ParseStatus(v)
			return err
		}}
	}
	flag := func(name string, p *bool) field { return field{name: name, flag: p} }
	return []field{
		flag("silent", &s.Silent), number("loss", &s.Loss, 100), s.delayField(), flag("duplicate", &s.Duplicate),
		number("toobig", &s.TooBig, 1<<16), flag("wrongid", &s.WrongID), flag("loop", &s.Loop), flag("back", &s.Back),
		flag("wrongtype", &s.WrongType), subtrees("missing", &s.Missing), subtrees("within", &s.Within), flag("truncate", &s.Truncate), flag("garbage", &s.Garbage),
		flag("huge", &s.Huge), flag("nobulk", &s.NoBulk), status("status", &s.Status), status("setstatus", &s.SetStatus),
		flag("setignore", &s.SetIgnore), flag("setmute", &s.SetMute),
	}
}

func (s *Set) delayField() field {
	return field{"delay", nil, func() string {
		if s.Delay == 0 {
			return ""
		}
		return s.Delay.String()
	}, func(v string) error {
		d, err := time.ParseDuration(v)
		if err != nil || d < 0 || d > time.Hour {
			return fmt.Errorf("delay=%.20q: a duration as 250ms, at most 1h, belongs here", v)
		}
		s.Delay = d
		return nil
	}}
}

func subtrees(name string, list *[]snmpwire.OID) field {
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

func usage(fields []field) string {
	words := make([]string, len(fields))
	for i, f := range fields {
		if words[i] = f.name; f.flag == nil {
			words[i] += "=…"
		}
	}
	return strings.Join(words, " ")
}
