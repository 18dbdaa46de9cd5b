package yang

import (
	"fmt"
	"regexp"
	"strings"
)

// compilePattern turns an XSD regular expression (RFC 7950 section 9.4.5) into
// an anchored RE2 one. What has no RE2 counterpart is an error, never a guess.
func compilePattern(xsd string) (*regexp.Regexp, error) {
	var b strings.Builder
	b.WriteString(`\A(?:`)
	class := false
	for i := 0; i < len(xsd); i++ {
		ch := xsd[i]
		switch {
		case ch == '\\':
			i++
			if i == len(xsd) {
				return nil, fmt.Errorf("%q ends with a backslash", xsd)
			}
			s, err := translateEscape(xsd, &i, class)
			if err != nil {
				return nil, err
			}
			b.WriteString(s)
		case class && ch == '[':
			return nil, fmt.Errorf("%q has a class inside of another", xsd)
		case ch == '[' && !plainClass(xsd[i:]):
			set, end, err := parseClass(xsd, i)
			if err != nil {
				return nil, err
			}
			b.WriteString(set.formatClass())
			i = end
		case ch == '[':
			class = true
			b.WriteByte(ch)
			if strings.HasPrefix(xsd[i+1:], "^") {
				b.WriteByte('^')
				i++
			}
		case ch == ']':
			class = false
			b.WriteByte(ch)
		case !class && (ch == '^' || ch == '$'):
			b.WriteByte('\\') // plain characters in XSD
			b.WriteByte(ch)
		case !class && ch == '.':
			b.WriteString(`[^\n\r]`)
		case !class && ch == '(' && strings.HasPrefix(xsd[i+1:], "?"):
			return nil, fmt.Errorf("%q has a group extension, which XSD does not know", xsd)
		default:
			b.WriteByte(ch)
		}
	}
	b.WriteString(`)\z`)
	re, err := regexp.Compile(b.String())
	if err != nil {
		return nil, fmt.Errorf("%q: %w", xsd, err)
	}
	return re, nil
}

// classEscapes are the multi-character escapes of XSD, as the inside of a class.
var classEscapes = map[byte]string{
	'd': `\p{Nd}`,
	's': ` \t\n\r`,
	'i': `\p{L}_:`,
	'c': `\p{L}\p{Nd}\-._:`,
	'w': `\p{L}\p{M}\p{N}\p{S}`,
}

// translateEscape translates the escape whose letter is at *i.
func translateEscape(xsd string, i *int, class bool) (string, error) {
	ch := xsd[*i]
	if in, ok := classEscapes[ch]; ok {
		if class {
			return in, nil
		}
		return "[" + in + "]", nil
	}
	in, ok := classEscapes[ch|0x20]
	if ok && ch >= 'A' && ch <= 'Z' {
		if class {
			return "", fmt.Errorf("%q has \\%c inside a class", xsd, ch)
		}
		return "[^" + in + "]", nil
	}
	switch {
	case ch == 'p' || ch == 'P':
		end := strings.IndexByte(xsd[*i:], '}')
		if end < 0 {
			return "", fmt.Errorf("%q names no category", xsd)
		}
		if strings.HasPrefix(xsd[*i+1:], "{Is") {
			set, err := namedSet(xsd, xsd[*i+2:*i+end])
			if err != nil {
				return "", err
			}
			if *i += end; ch == 'P' {
				set = set.complement()
			}
			return set.formatClass(), nil
		}
		s := `\` + xsd[*i:*i+end+1]
		*i += end
		return s, nil
	case strings.IndexByte(`nrt\|.?*+(){}-[]^$`, ch) >= 0:
		if ch == 'n' || ch == 'r' || ch == 't' {
			return `\` + string(ch), nil
		}
		if class || ch == '-' {
			return `\` + string(ch), nil // a hyphen must not become a range
		}
		return regexp.QuoteMeta(string(ch)), nil
	}
	return "", fmt.Errorf("%q has the unknown escape \\%c", xsd, ch)
}
