package yang

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"ctl.internal/sdk/fault"
)

// checkLeaf checks one value and brings it to canonical form.
func (v *validator) checkLeaf(d *Data, n *Node) {
	if v.Aliases != nil && v.Aliases.Trim && d.kind == jString {
		d.text = strings.TrimSpace(d.text)
	}
	if v.Masks && d.isMask(n) {
		return
	}
	if d.kind == jArray && d.first != nil && d.first.kind == jNull && d.first.next == nil {
		d.kind, d.first, d.last = jNull, nil, nil // [null], the value of type empty
	} else if d.kind == jNull {
		if !v.Lenient || n.Type.Final().Base != Empty {
			v.addFault(fault.Invalid, d.Path(), "null is not a value; leave the member out")
			return
		}
	}
	if d.kind == jObject || d.kind == jArray {
		v.addFault(fault.Invalid, d.Path(), "want a single value, got %s", jsonNames[d.kind])
		return
	}
	why := n.Type.canonicalizeValue(d, n, v.howScalars())
	if why == "" {
		return
	}
	if other, ok := v.Aliases.valueAlias(n, d.text); ok {
		d.kind, d.text = jString, other
		if n.Type.canonicalizeValue(d, n, anyForm) == "" {
			return
		}
	}
	says := n.Type.brokenRestriction(d)
	var kind *Violation
	if says.tag != "" {
		kind = &Violation{AppTag: says.tag}
	}
	v.addViolation(kind, fault.Invalid, d.Path(), "%s", cmp.Or(says.message, n.hidden(why)))
}

// scalarForm says in which JSON types a value may be written.
type scalarForm int

const (
	// numberForm is that of RFC 7951, and takes 64-bit numbers as JSON numbers: what plugins send.
	numberForm scalarForm = iota
	// exactForm is that of RFC 7951 section 6 alone.
	exactForm
	// anyForm takes the neighbouring types, too.
	anyForm
)

func (o *Options) howScalars() scalarForm {
	switch {
	case o.Lenient:
		return anyForm
	case o.Exact:
		return exactForm
	}
	return numberForm
}

// canonicalizeValue checks d against t and makes it canonical. It returns what is wrong.
func (t *Type) canonicalizeValue(d *Data, n *Node, form scalarForm) string {
	t = t.Final()
	why := ""
	switch t.Base {
	case Int8, Int16, Int32, Int64, Uint8, Uint16, Uint32, Uint64:
		why = t.parseInt(d, form)
	case Decimal64:
		why = t.parseDecimal(d, form)
	case Boolean:
		why = parseBool(d, form)
	case Empty:
		if d.kind != jNull {
			why = "want [null]"
		}
	case Union:
		return t.parseUnion(d, n, form)
	default:
		if d.kind == jNull || d.kind != jString && form != anyForm {
			return "want a string, got " + jsonNames[d.kind]
		}
		s := d.Text()
		if s, why = t.parseString(s, n); why == "" {
			d.kind, d.text = jString, s
		}
	}
	if why == "" {
		d.typ = t
	}
	return why
}

func (t *Type) parseUnion(d *Data, n *Node, form scalarForm) string {
	forms := []scalarForm{form}
	if form == anyForm {
		forms = []scalarForm{numberForm, anyForm}
	}
	for _, form := range forms {
		for _, m := range t.Members {
			try := *d
			if m.canonicalizeValue(&try, n, form) == "" {
				d.kind, d.text, d.typ = try.kind, try.text, try.typ
				return ""
			}
		}
	}
	names := make([]string, len(t.Members))
	for i, m := range t.Members {
		names[i] = m.Name
	}
	return fmt.Sprintf("%s fits none of %s", showValue(d), strings.Join(names, ", "))
}

// wantQuoted is what is wrong with a 64-bit number that is no string.
func (t *Type) wantQuoted(d *Data) string {
	return fmt.Sprintf("%s is a number; %s is written as a string, %q (RFC 7951 section 6.1)", showValue(d), t.Base, d.text)
}

// parseInt takes a JSON number or, of a 64-bit type, a string; other forms than RFC 7951's as form says.
func (t *Type) parseInt(d *Data, form scalarForm) string {
	if d.kind == jNumber && form == exactForm && t.Base.Quoted() {
		return t.wantQuoted(d)
	}
	if d.kind != jNumber && (d.kind != jString || form != anyForm && !t.Base.Quoted()) {
		return fmt.Sprintf("want a whole number, got %s", jsonNames[d.kind])
	}
	v, ok := wholeNumber(d.text)
	if !ok {
		return fmt.Sprintf("%s is not a whole number", showValue(d))
	}
	if !t.span.containsNumber(v) {
		if t.rangeText != "" {
			return fmt.Sprintf("%s is not within %s", showValue(d), t.rangeText)
		}
		return fmt.Sprintf("%s does not fit %s", showValue(d), t.Base)
	}
	d.kind = jNumber
	if v.Value == 0 {
		d.text = "0"
	} else if c := d.text[0]; c == '+' || c == '0' || c == '-' && d.text[1] == '0' {
		d.text = v.String()
	}
	return ""
}

// wholeNumber reads a decimal number with an optional sign (RFC 7950 section 9.2.1); hexadecimal and octal ones are
// for the defaults of modules alone.
func wholeNumber(s string) (v number, ok bool) {
	body := s
	if s != "" && (s[0] == '-' || s[0] == '+') {
		body = s[1:]
	}
	if body == "" || body[0] < '0' || body[0] > '9' {
		return v, false
	}
	n, err := strconv.ParseUint(body, 10, 64)
	if errors.Is(err, strconv.ErrRange) { // a value outside every range
		return number{Negative: true, Value: n}, true
	}
	return number{
		Negative: s[0] == '-' && n != 0,
		Value:    n,
	}, err == nil
}

func (t *Type) parseDecimal(d *Data, form scalarForm) string {
	if d.kind == jNumber && form == exactForm {
		return t.wantQuoted(d)
	}
	if d.kind != jNumber && d.kind != jString {
		return fmt.Sprintf("want a decimal number, got %s", jsonNames[d.kind])
	}
	whole, frac, dot := strings.Cut(d.text, ".")
	frac = strings.TrimRight(frac, "0")
	if _, ok := wholeNumber(whole); !ok ||
		dot && strings.HasSuffix(d.text, ".") ||
		strings.Trim(frac, "0123456789") != "" {
		return fmt.Sprintf("%s is not a decimal number", showValue(d))
	}
	if len(frac) > t.Digits {
		return fmt.Sprintf("%s has more than %d digits after the point", showValue(d), t.Digits)
	}
	if frac == "" {
		frac = "0"
	}
	v, ok := parseDecimalNumber(whole+"."+frac, t.Digits)
	if !ok || !t.span.containsNumber(v) {
		if t.rangeText != "" {
			return fmt.Sprintf("%s is not within %s", showValue(d), t.rangeText)
		}
		return fmt.Sprintf("%s is too large", showValue(d))
	}
	d.kind, d.text = jNumber, v.formatDecimal(t.Digits)
	if v.Negative && v.Value == 0 {
		d.text = "0.0"
	}
	return ""
}

func parseBool(d *Data, form scalarForm) string {
	switch {
	case d.kind == jTrue || d.kind == jFalse:
	case d.kind == jString && form == anyForm && d.text == "true":
		d.kind = jTrue
	case d.kind == jString && form == anyForm && d.text == "false":
		d.kind = jFalse
	default:
		return fmt.Sprintf("want true or false, got %s", showValue(d))
	}
	d.text = ""
	return ""
}

// parseString checks the types that JSON writes as strings.
func (t *Type) parseString(s string, n *Node) (string, string) {
	switch t.Base {
	case Enumeration:
		if _, ok := t.values[s]; !ok {
			return s, fmt.Sprintf("%.40q is not one of %s", s, formatNameList(t.Names))
		}
	case Bits:
		return t.parseBits(s)
	case Identityref:
		full := t.identities[s]
		if full == "" {
			if full = t.identities[n.Module+":"+s]; full == "" {
				return s, fmt.Sprintf(
					"%.60q is not one of the identities %s",
					s,
					formatNameList(t.Names),
				)
			}
		}
		return full, ""
	case Binary:
		b, err := base64.StdEncoding.Strict().DecodeString(s)
		if err != nil {
			return s, "this is not base64"
		}
		if !t.length.containsNumber(number{Value: uint64(len(b))}) {
			return s, fmt.Sprintf("%d octets, but the length must be %s", len(b), t.lengthText)
		}
	case InstanceIdentifier:
		if _, err := ParsePath(s); err != nil {
			return s, err.Error()
		}
	default:
		return s, t.checkText(s)
	}
	return s, ""
}

func (t *Type) checkText(s string) string {
	if len(t.length) > 0 {
		if c := utf8.RuneCountInString(s); !t.length.containsNumber(number{Value: uint64(c)}) {
			return fmt.Sprintf("%d characters, but the length must be %s", c, t.lengthText)
		}
	}
	for _, p := range t.patterns {
		if p.re.MatchString(s) == p.invert {
			if p.invert {
				return fmt.Sprintf("%.60q matches the pattern %s, which is excluded", s, p.text)
			}
			return fmt.Sprintf("%.60q does not match the pattern %s", s, p.text)
		}
	}
	return ""
}

func (t *Type) parseBits(s string) (string, string) {
	on := map[string]bool{}
	for b := range strings.FieldsSeq(s) {
		if _, ok := t.values[b]; !ok {
			return s, fmt.Sprintf("the bit %.40q is not one of %s", b, formatNameList(t.Names))
		}
		if on[b] {
			return s, fmt.Sprintf("the bit %q occurs twice", b)
		}
		on[b] = true
	}
	set := make([]string, 0, len(on))
	for _, b := range t.Names {
		if on[b] {
			set = append(set, b)
		}
	}
	return strings.Join(set, " "), ""
}

// formatNameList joins the names a user can choose from, not too many of them.
func formatNameList(names []string) string {
	if len(names) > 20 {
		return strings.Join(names[:20], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// showValue writes a value for a message.
func showValue(d *Data) string {
	if d.kind == jString {
		return fmt.Sprintf("%.40q", d.text)
	}
	if d.kind == jNumber {
		return fmt.Sprintf("%.40s", d.text)
	}
	return jsonNames[d.kind]
}
