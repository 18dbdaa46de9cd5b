package secini

import "strings"

// filters splits `a, b[x, y], "c"` into the filters of a rule.
func (f *File) filters(v Value) ([]Filter, error) {
	var out []Filter
	rest := v.Raw
	for {
		rest = strings.TrimSpace(rest)
		end := strings.IndexAny(rest, ",[")
		var fl Filter
		switch {
		case end < 0:
			fl.Name, rest = rest, ""
		case rest[end] == ',':
			fl.Name, rest = rest[:end], rest[end:]
		default:
			stop := closing(rest[end:])
			if stop < 0 {
				return nil, f.Errorf(v.Line, "a bracket is not closed in %q", rest)
			}
			args, err := f.List(Value{strings.TrimSpace(rest[end+1 : end+stop]), v.Line})
			if err != nil {
				return nil, err
			}
			fl.Name, fl.Args, rest = rest[:end], args, strings.TrimSpace(rest[end+stop+1:])
		}
		fl.Name = strings.TrimSpace(fl.Name)
		if fl.Name == "" {
			return nil, f.Errorf(v.Line, "a filter name is missing; write `pattern = filter, filter[args]`")
		}
		out = append(out, fl)
		if rest == "" {
			return out, nil
		}
		if rest[0] != ',' {
			return nil, f.Errorf(v.Line, "a comma is missing before %q", rest)
		}
		rest = rest[1:]
	}
}

// closing returns the index of the bracket that closes the one s begins with.
func closing(s string) int {
	quoted := false
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			quoted = !quoted
		case ']':
			if !quoted {
				return i
			}
		}
	}
	return -1
}
