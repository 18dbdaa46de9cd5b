package grant

import (
	"fmt"
	"slices"
	"strings"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// maxRequests bounds what one plugin requests.
const maxRequests = 256

// listensLabel in a manifest names a plugin that serves TLS to the outside, with the controller's certificate.
const listensLabel = "listens"

// Request is a grant that a plugin wants, and what for.
type Request struct {
	Grant
	Why string
}

// Words says what the plugin wants, and what for.
func (r Request) Words() string {
	if r.Why == "" {
		return r.Grant.Words()
	}
	return r.Grant.Words() + ": " + r.Why
}

// Requests lists what a manifest requests: explicitly, and by the fields that need a grant to have an effect.
func Requests(m *pluginv1.Manifest) ([]Request, error) {
	var out []Request
	add := func(kind, value, why string) error {
		g, err := New(kind, value)
		if err != nil {
			return fmt.Errorf("the manifest of plugin %s requests: %w", m.GetName(), err)
		}
		if len(out) == maxRequests {
			return fmt.Errorf(
				"the manifest of plugin %s has more than %d requests",
				m.GetName(),
				maxRequests,
			)
		}
		if !slices.ContainsFunc(out, func(r Request) bool { return r.Grant == g }) {
			out = append(out, Request{g, why})
		}
		return nil
	}
	for _, r := range m.GetRequests() {
		if err := add(r.GetKind(), r.GetValue(), oneLine(r.GetWhy())); err != nil {
			return nil, err
		}
	}
	for _, v := range m.GetReads() {
		if !strings.Contains(strings.TrimPrefix(v, "/"), ":") {
			return nil, fmt.Errorf(
				"the manifest of plugin %s: reads: %q is neither /module:container nor PLUGIN:prefix",
				m.GetName(),
				v,
			)
		}
	}
	stores := len(m.GetOwns())+len(m.GetPublishes())+len(m.GetExports())+len(m.GetReads()) > 0
	for _, implied := range []struct {
		needed bool
		kind   string
		values []string
	}{
		{true, Data, m.GetReads()},
		{true, Plugins, m.GetUses()},
		{stores, Service, []string{Datastore}},
		{len(m.GetStreams()) > 0, Service, []string{Events}},
		{len(m.GetRoles()) > 0, Service, []string{Roles}},
		{m.GetLabels()[listensLabel] != "", Certificate, []string{"identity", "trust"}},
	} {
		for _, v := range implied.values {
			if !implied.needed {
				break
			}
			if err := add(implied.kind, v, ""); err != nil {
				return nil, err
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Request) int {
		return strings.Compare(a.Grant.String(), b.Grant.String())
	})
	return out, nil
}

// oneLine prevents control characters of a plugin's text on the operator's terminal.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "") + "…"
	}
	return strings.TrimSpace(s)
}

// NeededError says that a plugin requests what no operator has granted or refused yet.
type NeededError struct {
	Plugin, Version string
	Requests        []Request
}

// Error lists the requests in plain words, and says how to grant them.
func (e *NeededError) Error() string {
	var b strings.Builder
	fmt.Fprintf(
		&b,
		"plugin %s %s needs a decision of an administrator. It wants to",
		e.Plugin,
		e.Version,
	)
	for i, r := range e.Requests {
		if i > 0 {
			b.WriteString(";")
		}
		fmt.Fprintf(&b, " %s (%s)", r.Words(), r.Grant)
	}
	fmt.Fprintf(
		&b,
		". Grant it with feature:install --grant or plugin:grant %s, refuse parts with plugin:revoke %s",
		e.Plugin,
		e.Plugin,
	)
	return b.String()
}

// Unwrap gives the error a kind: Denied.
func (e *NeededError) Unwrap() error {
	return fault.New(fault.Denied, "%s", e.Error())
}
