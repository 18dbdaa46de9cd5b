package feature

import (
	"fmt"
	"strings"

	"ctl.internal/sdk/fault"
)

// Requirement is a feature that the operator wants, in one of some versions.
type Requirement struct {
	Name    string `json:"name"`
	Version Range  `json:"version"`
}

// ParseRequirement reads NAME or NAME/VERSION. As in Karaf a version alone means
// exactly that one here, a range what it says.
func ParseRequirement(s string) (Requirement, error) {
	name, version, given := strings.Cut(strings.TrimPrefix(s, "feature:"), "/")
	if err := checkName(name); err != nil {
		return Requirement{}, err
	}
	r := Requirement{Name: name}
	version = strings.TrimSpace(version)
	if !given {
		return r, nil
	}
	if v, err := ParseVersion(version); err == nil {
		r.Version = Exactly(v)
		return r, nil
	}
	var err error
	r.Version, err = ParseRange(version)
	if err == nil && version == "" {
		err = versionError("")
	}
	return r, err
}

// parseAll reads what an operator typed.
func parseAll(names []string) ([]Requirement, error) {
	var out []Requirement
	for _, n := range names {
		q, err := ParseRequirement(n)
		if err != nil {
			return nil, fault.Wrap(fault.Invalid, err, "%v", err)
		}
		out = append(out, q)
	}
	return out, nil
}

// String is NAME or NAME/RANGE.
func (r Requirement) String() string {
	if r.Version.text == "" {
		return r.Name
	}
	return r.Name + "/" + r.Version.text
}

// checkName keeps names to what can be typed, listed and put into a path.
func checkName(name string) error {
	ok := name != "" && len(name) <= 100 && name[0] != '-' && name[0] != '.'
	for _, c := range name {
		ok = ok && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.')
	}
	if !ok {
		return fmt.Errorf(
			"%q is not a feature's name: use letters, digits, hyphens, dots and underscores",
			name,
		)
	}
	return nil
}
