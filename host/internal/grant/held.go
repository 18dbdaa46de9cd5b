package grant

import (
	"slices"
	"time"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// Entry is a decision about one grant.
type Entry struct {
	Grant Grant     `json:"grant"`
	By    string    `json:"by"`
	At    time.Time `json:"at,omitzero"`
}

// Held are the decisions about one plugin. The zero value grants nothing. A value in use never changes.
type Held struct {
	Granted []Entry `json:"granted,omitempty"`
	Refused []Entry `json:"refused,omitempty"`
}

// Grant returns the decisions with more granted; what was refused of it is not any longer.
func (h Held) Grant(by string, at time.Time, grants ...Grant) Held {
	return Held{
		Granted: withGrants(h.Granted, by, at, grants),
		Refused: withoutGrants(h.Refused, grants),
	}
}

// Refuse returns the decisions with more refused.
func (h Held) Refuse(by string, at time.Time, grants ...Grant) Held {
	return Held{
		Granted: withoutGrants(h.Granted, grants),
		Refused: withGrants(h.Refused, by, at, grants),
	}
}

func withGrants(list []Entry, by string, at time.Time, grants []Grant) []Entry {
	out := slices.Clone(list)
	for _, g := range grants {
		if !slices.ContainsFunc(out, func(e Entry) bool { return e.Grant == g }) {
			out = append(out, Entry{g, by, at})
		}
	}
	return out
}

func withoutGrants(list []Entry, grants []Grant) []Entry {
	return slices.DeleteFunc(slices.Clone(list), func(e Entry) bool {
		return slices.Contains(grants, e.Grant)
	})
}

// BySettings is who granted what the plugin's settings name.
const BySettings = "the plugin's settings"

// findDecision returns the decision about a grant: granted, refused, or neither. The most specific one counts, of two that
// are equally specific the refusal.
func (h Held) findDecision(g Grant) (e Entry, granted, decided bool) {
	length := -1
	for i, list := range [][]Entry{h.Refused, h.Granted} {
		for _, one := range list {
			n := len(one.Grant.Value)
			if n > length && one.Grant.Covers(g) {
				e, granted, decided, length = one, i == 1, true, n
			}
		}
	}
	if !decided && g.FromSettings() {
		return Entry{Grant: g, By: BySettings}, true, true
	}
	return e, granted, decided
}

// Decision is what became of a request.
type Decision struct {
	Request
	Entry   // zero when undecided
	Granted bool
	Decided bool
}

// Decisions lists what became of each request.
func (h Held) Decisions(requests []Request) []Decision {
	var out []Decision
	for _, r := range requests {
		e, granted, decided := h.findDecision(r.Grant)
		out = append(out, Decision{r, e, granted, decided})
	}
	return out
}

// InForce lists what was granted and not refused by a decision that is more specific.
func (h Held) InForce() (out []Grant) {
	for _, e := range h.Granted {
		if _, granted, _ := h.findDecision(e.Grant); granted {
			out = append(out, e.Grant)
		}
	}
	return out
}

// Check returns a *NeededError when a manifest requests something that is not decided.
func (h Held) Check(m *pluginv1.Manifest, requests []Request) error {
	e := &NeededError{
		Plugin:  m.GetName(),
		Version: m.GetVersion(),
	}
	for _, d := range h.Decisions(requests) {
		if !d.Decided {
			e.Requests = append(e.Requests, d.Request)
		}
	}
	if len(e.Requests) == 0 {
		return nil
	}
	return e
}

// Permit is what one process of a plugin may do: what its manifest requests and its operator granted. The zero value
// permits nothing.
type Permit struct {
	requests []Request
	held     Held
}

// NewPermit returns the permit of a plugin with these requests.
func NewPermit(requests []Request, held Held) Permit {
	return Permit{requests, held}
}

// Allows reports whether the plugin may do something.
func (p Permit) Allows(kind, value string) bool {
	g := Grant{kind, value}
	if !slices.ContainsFunc(p.requests, func(r Request) bool {
		return r.Grant.Covers(g)
	}) {
		return false
	}
	_, granted, _ := p.held.findDecision(g)
	return granted
}

// Granted lists the requests that were granted.
func (p Permit) Granted() []Grant {
	var out []Grant
	for _, d := range p.held.Decisions(p.requests) {
		if d.Granted {
			out = append(out, d.Request.Grant)
		}
	}
	return out
}
