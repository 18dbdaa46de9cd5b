package ldaptest

import (
	"net"
	"slices"
	"strings"

	ber "github.com/go-asn1-ber/asn1-ber"
	goldap "github.com/go-ldap/ldap/v3"
)

func (s *Server) answerSearch(c net.Conn, id any, op *ber.Packet) {
	base, filter := string(op.Children[0].ByteValue), op.Children[6]
	scope, _ := op.Children[1].Value.(int64)
	limit, _ := op.Children[3].Value.(int64)
	if text, err := goldap.DecompileFilter(filter); err == nil {
		s.mu.Lock()
		s.filters = append(s.filters, text)
		s.mu.Unlock()
	}
	code, sent := s.SearchCode, int64(0)
	for _, e := range s.Entries {
		if code != 0 ||
			!isBelowDN(e.DN, base) ||
			scope == goldap.ScopeBaseObject && !isBelowDN(base, e.DN) ||
			!e.matchesFilter(filter) {
			continue
		}
		if limit > 0 && sent == limit {
			code = goldap.LDAPResultSizeLimitExceeded
			break
		}
		sendMessage(c, id, newSearchEntry(e, op.Children[7]))
		sent++
	}
	s.sendResult(c, id, goldap.ApplicationSearchResultDone, code, "")
}

func isBelowDN(dn, base string) bool {
	x, errX := goldap.ParseDN(dn)
	y, errY := goldap.ParseDN(base)
	return errX == nil && errY == nil && (y.EqualFold(x) || y.AncestorOfFold(x))
}

func newSearchEntry(e Entry, wanted *ber.Packet) *ber.Packet {
	var names []string
	for _, w := range wanted.Children {
		names = append(names, strings.ToLower(string(w.ByteValue)))
	}
	p := ber.Encode(
		ber.ClassApplication,
		ber.TypeConstructed,
		goldap.ApplicationSearchResultEntry,
		nil,
		"",
	)
	p.AppendChild(newOctetString(e.DN))
	list := ber.NewSequence("")
	for name, values := range e.Attributes {
		if len(names) > 0 && !slices.Contains(names, strings.ToLower(name)) {
			continue
		}
		set := ber.Encode(ber.ClassUniversal, ber.TypeConstructed, ber.TagSet, nil, "")
		for _, v := range values {
			set.AppendChild(newOctetString(v))
		}
		one := ber.NewSequence("")
		one.AppendChild(newOctetString(name))
		one.AppendChild(set)
		list.AppendChild(one)
	}
	p.AppendChild(list)
	return p
}

// matchesFilter evaluates and, or, not, equality, presence, and the matching rule of chains
// as equality.
func (e Entry) matchesFilter(f *ber.Packet) bool {
	switch f.Tag {
	case goldap.FilterAnd:
		return !slices.ContainsFunc(f.Children, func(c *ber.Packet) bool {
			return !e.matchesFilter(c)
		})
	case goldap.FilterOr:
		return slices.ContainsFunc(f.Children, e.matchesFilter)
	case goldap.FilterNot:
		return !e.matchesFilter(f.Children[0])
	case goldap.FilterEqualityMatch:
		return e.hasValue(string(f.Children[0].ByteValue), string(f.Children[1].ByteValue))
	case goldap.FilterPresent:
		for name := range e.Attributes {
			if strings.EqualFold(name, f.Data.String()) {
				return true
			}
		}
	case goldap.FilterExtensibleMatch:
		var attribute, value string
		for _, c := range f.Children {
			switch c.Tag {
			case goldap.MatchingRuleAssertionType:
				attribute = c.Data.String()
			case goldap.MatchingRuleAssertionMatchValue:
				value = c.Data.String()
			}
		}
		return e.hasValue(attribute, value)
	}
	return false
}
