package people

import (
	"path"
	"strings"

	"ctl.internal/sdk/fault"
)

// Machines are patterns of the names and addresses of programs: bots, assistants, accounts that release and merge. A *
// means any text; case does not count. A pattern with an @ is compared with addresses, any other with names.
type Machines []string

// maxPatterns bounds the patterns of one setting or request.
const maxPatterns = 1000

// NewMachines checks patterns. An error is a fault.Invalid of the field machines.
func NewMachines(patterns []string) (Machines, error) {
	if len(patterns) > maxPatterns {
		return nil, fault.At(
			fault.Invalid,
			"machines",
			"there are %d patterns; at most %d are allowed",
			len(patterns),
			maxPatterns,
		)
	}
	m := make(Machines, 0, len(patterns))
	for _, p := range patterns {
		text := strings.ToLower(strings.TrimSpace(p))
		if strings.Trim(text, "*@") == "" {
			return nil, fault.At(
				fault.Invalid,
				"machines",
				"the pattern %q would make everybody a machine: write a part of a name or address",
				p,
			)
		}
		m = append(m, literalPattern(text))
	}
	return m, nil
}

// literalPattern makes a pattern for path.Match in which only * is special. Slashes become another character, since * does not
// match them there.
func literalPattern(text string) string {
	return strings.NewReplacer(`\`, `\\`, "[", `\[`, "?", `\?`, "/", "\x00").Replace(text)
}

// Match reports whether a person is a machine.
func (m Machines) Match(p Person) bool {
	name, email := strings.ToLower(p.Name), strings.ToLower(p.Email)
	for _, pattern := range m {
		subject := name
		if strings.Contains(pattern, "@") {
			subject = email
		}
		ok, _ := path.Match(pattern, strings.ReplaceAll(subject, "/", "\x00"))
		if ok { // NewMachines made the pattern
			return true
		}
	}
	return false
}
