package secini

import "strings"

// Value is the right-hand side of a line, not yet split.
type Value struct {
	Raw  string
	Line int
}

// Pair is one entry of a map value.
type Pair struct{ Key, Value string }

// Text returns the value as one string, without the quotes around it. A backslash is a character like any other, but
// before a dollar at the beginning, which then begins no reference.
func (v Value) Text() string {
	text := v.Raw
	n := len(text)
	if n >= 2 && text[0] == '"' && text[n-1] == '"' {
		text = strings.ReplaceAll(text[1:n-1], `""`, `"`)
	}
	return unescapeDollar(text)
}

// List splits the value at commas outside quotes.
func (f *File) List(v Value) ([]string, error) {
	if v.Raw == "" {
		return nil, nil
	}
	return f.splitUnquoted(v, ',')
}

// Map splits the value into `key:value` pairs at commas outside quotes.
func (f *File) Map(v Value) ([]Pair, error) {
	raw, err := f.splitPieces(v, ',')
	if err != nil || v.Raw == "" {
		return nil, err
	}
	var out []Pair
	for _, r := range raw {
		kv, err := f.splitUnquoted(Value{r, v.Line}, ':')
		if err != nil {
			return nil, err
		}
		if len(kv) != 2 || kv[0] == "" {
			return nil, f.Errorf(
				v.Line,
				"%q is not a pair; write \"key\":\"value\", with quotes around parts that hold a colon",
				r,
			)
		}
		out = append(out, Pair{kv[0], kv[1]})
	}
	return out, nil
}

// Refs reads a list in which every item is `$name`, and returns the names.
func (f *File) Refs(v Value) ([]string, error) {
	items, err := f.List(v)
	if err != nil {
		return nil, err
	}
	for i, item := range items {
		name, ok := strings.CutPrefix(item, "$")
		if !ok || name == "" {
			return nil, f.Errorf(v.Line, "%q is not a reference; write $name", item)
		}
		items[i] = name
	}
	return items, nil
}

// splitUnquoted splits at a separator outside quotes and removes the quotes.
func (f *File) splitUnquoted(v Value, sep byte) ([]string, error) {
	parts, err := f.splitPieces(v, sep)
	for i, p := range parts {
		parts[i] = unescapeDollar(removeQuotes(p))
	}
	return parts, err
}

// Words splits the value at commas outside quotes and removes the quotes, and nothing else: values of [users].
func (f *File) Words(v Value) ([]string, error) {
	parts, err := f.splitPieces(v, ',')
	for i, p := range parts {
		parts[i] = removeQuotes(p)
	}
	return parts, err
}

// splitPieces splits at a separator outside quotes and trims blanks.
func (f *File) splitPieces(v Value, sep byte) ([]string, error) {
	var out []string
	quoted, start := false, 0
	for i := 0; i < len(v.Raw); i++ {
		switch c := v.Raw[i]; {
		case c == '"' && (quoted || opensQuotation(v.Raw, start, i)):
			quoted = !quoted // a doubled one changes nothing
		case c == sep && !quoted:
			out = append(out, strings.TrimSpace(v.Raw[start:i]))
			start = i + 1
		}
	}
	if quoted {
		return nil, f.Errorf(v.Line, "a quote is not closed")
	}
	return append(out, strings.TrimSpace(v.Raw[start:])), nil
}

// opensQuotation reports whether the quote at i begins a quotation: one inside a word that nothing closes is a character.
func opensQuotation(s string, start, i int) bool {
	return strings.TrimSpace(s[start:i]) == "" || strings.Contains(s[i+1:], `"`)
}

// removeQuotes removes quotes; a doubled one inside quotes is one.
func removeQuotes(s string) string {
	if !strings.Contains(s, `"`) {
		return s
	}
	var out strings.Builder
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] != '"', !quoted && !opensQuotation(s, 0, i):
			out.WriteByte(s[i])
		case quoted && i+1 < len(s) && s[i+1] == '"':
			out.WriteByte('"')
			i++
		default:
			quoted = !quoted
		}
	}
	return out.String()
}

// unescapeDollar removes the backslash before a dollar that begins no reference.
func unescapeDollar(s string) string {
	if strings.HasPrefix(s, `\$`) {
		return s[1:]
	}
	return s
}

// IniRealm is the realm of [users], which needs no line in [main].
const IniRealm = "iniRealm"

// checkRefs finds references to objects that the file does not define.
func (f *File) checkRefs() []error {
	var known []string
	for _, o := range f.Objects {
		known = append(known, o.Name)
	}
	var errs []error
	for _, o := range f.Objects {
		for _, p := range o.Props {
			items, err := f.splitPieces(p.Value, ',')
			if err != nil {
				errs = append(errs, err)
			}
			for _, item := range items {
				name, ok := strings.CutPrefix(strings.Trim(item, `"`), "$") // not of \$, a literal dollar
				if ok && name != IniRealm && f.Object(name) == nil {
					errs = append(errs, f.Unknown(p.Value.Line, "object", name, known))
				}
			}
		}
	}
	return errs
}
