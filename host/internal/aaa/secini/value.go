package secini

import "strings"

// Value is the right-hand side of a line, not yet split.
type Value struct {
	Raw  string
	Line int
}

// Pair is one entry of a map value.
type Pair struct{ Key, Value string }

// Text returns the value as one string, without the quotes around it.
func (f *File) Text(v Value) (string, error) {
	if !strings.Contains(v.Raw, `"`) {
		return unescape(v.Raw), nil
	}
	parts, err := f.cut(v, 0)
	if err != nil {
		return "", err
	}
	return parts[0], nil
}

// List splits the value at commas outside quotes.
func (f *File) List(v Value) ([]string, error) {
	if v.Raw == "" {
		return nil, nil
	}
	return f.cut(v, ',')
}

// Map splits the value into `key:value` pairs at commas outside quotes.
func (f *File) Map(v Value) ([]Pair, error) {
	raw, err := f.pieces(v, ',')
	if err != nil || v.Raw == "" {
		return nil, err
	}
	var out []Pair
	for _, r := range raw {
		kv, err := f.cut(Value{r, v.Line}, ':')
		if err != nil {
			return nil, err
		}
		if len(kv) != 2 || kv[0] == "" {
			return nil, f.Errorf(v.Line, "%q is not a pair; write \"key\":\"value\", with quotes around parts that hold a colon", r)
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

// cut splits at a separator outside quotes and removes the quotes.
func (f *File) cut(v Value, sep byte) ([]string, error) {
	parts, err := f.pieces(v, sep)
	for i, p := range parts {
		if len(p) >= 2 && p[0] == '"' && p[len(p)-1] == '"' {
			p = p[1 : len(p)-1]
		}
		parts[i] = unescape(p)
	}
	return parts, err
}

// pieces splits at a separator outside quotes and trims blanks.
func (f *File) pieces(v Value, sep byte) ([]string, error) {
	var out []string
	quoted, start := false, 0
	for i := 0; i < len(v.Raw); i++ {
		switch c := v.Raw[i]; {
		case c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == sep && sep != 0 && !quoted:
			out = append(out, strings.TrimSpace(v.Raw[start:i]))
			start = i + 1
		}
	}
	if quoted {
		return nil, f.Errorf(v.Line, "a quote is not closed")
	}
	return append(out, strings.TrimSpace(v.Raw[start:])), nil
}

func unescape(s string) string {
	return strings.NewReplacer(`\"`, `"`, `\$`, `$`, `\,`, `,`, `\:`, `:`, `\\`, `\`).Replace(s)
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
			items, err := f.pieces(p.Value, ',')
			if err != nil {
				errs = append(errs, err)
			}
			for _, item := range items {
				name, ok := strings.CutPrefix(strings.Trim(item, `"`), "$") // not of \$, a literal dollar
				if ok && name != IniRealm && f.Object(unescape(name)) == nil {
					errs = append(errs, f.Unknown(p.Value.Line, "object", name, known))
				}
			}
		}
	}
	return errs
}
