package yang

import "unicode/utf8"

// saying is what a module says of a restriction that a value breaks.
type saying struct{ message, tag string }

func sayingOf(r *statement) saying {
	return saying{firstArgument(r, "error-message"), firstArgument(r, "error-app-tag")}
}

// brokenRestriction is what the module says of the restriction that a value breaks.
func (t *Type) brokenRestriction(d *Data) saying {
	t = t.Final()
	v, whole := wholeNumber(d.text)
	switch {
	case t.Base == Decimal64:
		v, ok := parseDecimalNumber(d.text, t.Digits)
		if ok && !t.span.containsNumber(v) {
			return t.says["range"]
		}
	case t.Base == String:
		if len(t.length) > 0 &&
			!t.length.containsNumber(number{Value: uint64(utf8.RuneCountInString(d.text))}) {
			return t.says["length"]
		}
		for _, p := range t.patterns {
			if p.re.MatchString(d.text) == p.invert {
				return p.says
			}
		}
	case len(limits[t.Base]) > 0 && whole && !t.span.containsNumber(v):
		return t.says["range"]
	}
	return saying{}
}
