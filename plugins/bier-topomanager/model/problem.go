package model

import "fmt"

// Problem is something wrong with what is configured. A warning works, but not
// with every router.
type Problem struct {
	Warning bool
	Where   string // "node 3, domain 1, sub-domain 2"
	Text    string
}

// String is one line for people.
func (p Problem) String() string { return p.Where + ": " + p.Text }

// Error makes a Problem an error.
func (p Problem) Error() string { return p.String() }

// problems collects Problems of one place.
type problems struct {
	where string
	list  []Problem
}

func (p *problems) err(format string, args ...any) {
	p.list = append(p.list, Problem{Where: p.where, Text: fmt.Sprintf(format, args...)})
}

func (p *problems) warn(format string, args ...any) {
	p.list = append(p.list, Problem{Warning: true, Where: p.where, Text: fmt.Sprintf(format, args...)})
}

// firstError returns the first Problem that is more than a warning, nil if none.
func firstError(list []Problem) error {
	for _, p := range list {
		if !p.Warning {
			return p
		}
	}
	return nil
}
