package yang

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// runes are sorted, disjoint intervals of characters: the value of a class of XSD that RE2 cannot write.
type runes [][2]rune

// plainClass reports whether RE2 has the class at the beginning of a text as it is: no class is subtracted, and no
// complement, category or block is in it.
func plainClass(s string) bool {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if i++; i < len(s) && strings.IndexByte("DSWICpP", s[i]) >= 0 {
				return false
			}
		case '[':
			return false
		case ']':
			return true
		}
	}
	return true
}

// parseClass reads the class whose bracket is at a position and returns where it ends.
func parseClass(xsd string, at int) (set runes, end int, err error) {
	i := at + 1
	negated := strings.HasPrefix(xsd[i:], "^")
	if negated {
		i++
	}
	done := func(sub runes) runes {
		if negated {
			set = set.normalizeIntervals().complement()
		}
		if sub != nil {
			set = set.normalizeIntervals().complement().union(sub).complement()
		}
		return set.normalizeIntervals()
	}
	for i < len(xsd) {
		switch {
		case xsd[i] == ']':
			return done(nil), i, nil
		case strings.HasPrefix(xsd[i:], "-["):
			sub, e, err := parseClass(xsd, i+1)
			if err != nil || e+1 >= len(xsd) || xsd[e+1] != ']' {
				return nil, 0, fmt.Errorf("%q subtracts a class and goes on", xsd)
			}
			return done(sub), e + 1, nil
		}
		item, next, err := classItem(xsd, i)
		if err != nil {
			return nil, 0, err
		}
		i = next
		if len(item) == 1 &&
			item[0][0] == item[0][1] &&
			i+1 < len(xsd) &&
			xsd[i] == '-' &&
			xsd[i+1] != ']' &&
			xsd[i+1] != '[' {
			high, next, err := classItem(xsd, i+1)
			if err != nil || len(high) != 1 || high[0][0] != high[0][1] || high[0][0] < item[0][0] {
				return nil, 0, fmt.Errorf(
					"%q has a range whose end is no character, or before its begin",
					xsd,
				)
			}
			item[0][1], i = high[0][0], next
		}
		set = append(set, item...)
	}
	return nil, 0, fmt.Errorf("%q has a class that does not end", xsd)
}

// classItem reads one character or escape of a class.
func classItem(xsd string, i int) (runes, int, error) {
	r, size := utf8.DecodeRuneInString(xsd[i:])
	if r != '\\' {
		return runes{{r, r}}, i + size, nil
	}
	if i++; i >= len(xsd) {
		return nil, 0, fmt.Errorf("%q ends with a backslash", xsd)
	}
	c := xsd[i]
	switch {
	case c == 'p' || c == 'P':
		n := strings.IndexByte(xsd[i:], '}')
		if n < 0 || !strings.HasPrefix(xsd[i+1:], "{") {
			return nil, 0, fmt.Errorf("%q names no category", xsd)
		}
		set, err := namedSet(xsd, xsd[i+2:i+n])
		if c == 'P' {
			set = set.complement()
		}
		return set, i + n + 1, err
	case strings.IndexByte("nrt", c) >= 0:
		r = map[byte]rune{'n': '\n', 'r': '\r', 't': '\t'}[c]
		return runes{{r, r}}, i + 1, nil
	case strings.IndexByte(`\|.?*+(){}-[]^$`, c) >= 0:
		return runes{{rune(c), rune(c)}}, i + 1, nil
	}
	set, ok := map[byte]func() runes{
		'd': func() runes { return runesOfTables(unicode.Nd) },
		's': func() runes { return runes{{'\t', '\n'}, {'\r', '\r'}, {' ', ' '}} },
		'w': func() runes {
			return runesOfTables(unicode.L, unicode.M, unicode.N, unicode.S)
		},
		'i': func() runes {
			return runesOfTables(unicode.L).union(runes{{':', ':'}, {'_', '_'}})
		},
		'c': func() runes {
			return runesOfTables(unicode.L, unicode.Nd).union(runes{{'-', '.'}, {':', ':'}, {'_', '_'}})
		},
	}[c|0x20]
	if !ok {
		return nil, 0, fmt.Errorf("%q has the unknown escape \\%c", xsd, c)
	}
	if out := set(); c >= 'a' {
		return out, i + 1, nil
	} else {
		return out.complement(), i + 1, nil
	}
}

// blocks are the Unicode blocks that published modules name.
var blocks = map[string][2]rune{
	"BasicLatin":                {0, 0x7f},
	"Latin-1Supplement":         {0x80, 0xff},
	"LatinExtended-A":           {0x100, 0x17f},
	"LatinExtended-B":           {0x180, 0x24f},
	"IPAExtensions":             {0x250, 0x2af},
	"SpacingModifierLetters":    {0x2b0, 0x2ff},
	"CombiningDiacriticalMarks": {0x300, 0x36f},
	"Greek":                     {0x370, 0x3ff},
	"GreekandCoptic":            {0x370, 0x3ff},
	"Cyrillic":                  {0x400, 0x4ff},
	"Armenian":                  {0x530, 0x58f},
	"Hebrew":                    {0x590, 0x5ff},
	"Arabic":                    {0x600, 0x6ff},
	"Devanagari":                {0x900, 0x97f},
	"Thai":                      {0xe00, 0xe7f},
	"HangulJamo":                {0x1100, 0x11ff},
	"LatinExtendedAdditional":   {0x1e00, 0x1eff},
	"GreekExtended":             {0x1f00, 0x1fff},
	"GeneralPunctuation":        {0x2000, 0x206f},
	"CurrencySymbols":           {0x20a0, 0x20cf},
	"LetterlikeSymbols":         {0x2100, 0x214f},
	"NumberForms":               {0x2150, 0x218f},
	"Arrows":                    {0x2190, 0x21ff},
	"MathematicalOperators":     {0x2200, 0x22ff},
	"BoxDrawing":                {0x2500, 0x257f},
	"Hiragana":                  {0x3040, 0x309f},
	"Katakana":                  {0x30a0, 0x30ff},
	"CJKUnifiedIdeographs":      {0x4e00, 0x9fff},
	"HangulSyllables":           {0xac00, 0xd7a3},
	"PrivateUse":                {0xe000, 0xf8ff},
}

// namedSet is a category of Unicode, or IsBLOCK.
func namedSet(xsd, name string) (runes, error) {
	if block, ok := strings.CutPrefix(name, "Is"); ok {
		if b, ok := blocks[block]; ok {
			return runes{b}, nil
		}
	}
	if t, ok := unicode.Categories[name]; ok {
		return runesOfTables(t), nil
	}
	return nil, fmt.Errorf("%q names the category or block %q, which is not known", xsd, name)
}

func runesOfTables(tables ...*unicode.RangeTable) (out runes) {
	for _, t := range tables {
		for _, r := range t.R16 {
			for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
				if r.Stride == 1 {
					out = append(out, [2]rune{c, rune(r.Hi)})
					break
				}
				out = append(out, [2]rune{c, c})
			}
		}
		for _, r := range t.R32 {
			for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
				if r.Stride == 1 {
					out = append(out, [2]rune{c, rune(r.Hi)})
					break
				}
				out = append(out, [2]rune{c, c})
			}
		}
	}
	return out.normalizeIntervals()
}

func (r runes) union(o runes) runes {
	return slices.Concat(r, o).normalizeIntervals()
}

// normalizeIntervals sorts intervals and joins those that touch.
func (r runes) normalizeIntervals() (out runes) {
	sorted := slices.Clone(r)
	slices.SortFunc(sorted, func(a, b [2]rune) int { return int(a[0] - b[0]) })
	for _, one := range sorted {
		if n := len(out); n > 0 && one[0] <= out[n-1][1]+1 {
			out[n-1][1] = max(out[n-1][1], one[1])
			continue
		}
		out = append(out, one)
	}
	return out
}

func (r runes) complement() (out runes) {
	next := rune(0)
	for _, one := range r.normalizeIntervals() {
		if one[0] > next {
			out = append(out, [2]rune{next, one[0] - 1})
		}
		next = one[1] + 1
	}
	if next <= unicode.MaxRune {
		out = append(out, [2]rune{next, unicode.MaxRune})
	}
	return out
}

// formatClass writes the set as a class of RE2.
func (r runes) formatClass() string {
	if len(r) == 0 {
		return `[^\x{0}-\x{10FFFF}]`
	}
	var b strings.Builder
	b.WriteByte('[')
	for _, one := range r {
		fmt.Fprintf(&b, `\x{%X}-\x{%X}`, one[0], one[1])
	}
	return b.String() + "]"
}
