package present

import (
	"cmp"
	"encoding/json"
	"math/big"
	"slices"
	"strings"

	"ctl.internal/sdk/fault"
)

// maxCondition bounds a condition, in bytes; so many parentheses cannot nest deeper than a stack has.
const maxCondition = 4096

// anyColumn means every column in a condition.
const anyColumn = "*"

// condition reports whether it holds for a row.
type condition func(row []any) bool

// parseCondition reads a condition such as
//
//	vlan >= 10 and (state = up or name ~ "uplink")
//
// with = != ~ (contains) !~ < <= > >=, and, or, not and parentheses. Values and names with blanks, or with signs that mean
// something here, stand in quotes; * is every column.
func (t Table) parseCondition(text string) (condition, error) {
	if len(text) > maxCondition {
		return nil, fault.At(fault.TooBig, "--where", "the condition has more than %d bytes", maxCondition)
	}
	words, err := scanCondition(text)
	if err != nil {
		return nil, err
	}
	p := conditionParser{table: t, words: words}
	c, err := p.parseOr()
	if err != nil {
		return nil, err
	}
	if p.at < len(words) {
		return nil, p.unexpected("and, or, or the end")
	}
	return c, nil
}

// word is a token of a condition.
type word struct {
	text   string
	quoted bool
}

// operators are those of comparisons; one that begins another comes after it.
var operators = []string{"!=", "!~", "<=", ">=", "=", "~", "<", ">"}

func scanCondition(text string) (out []word, err error) {
	for rest := strings.TrimSpace(text); rest != ""; rest = strings.TrimSpace(rest) {
		if rest[0] == '"' || rest[0] == '\'' {
			value, after, ended := strings.Cut(rest[1:], rest[:1])
			if !ended {
				return nil, fault.At(fault.Malformed, "--where", "the quote before %.40q is not closed", rest[1:])
			}
			out, rest = append(out, word{value, true}), after
			continue
		}
		n := wordLength(rest)
		out, rest = append(out, word{text: rest[:n]}), rest[n:]
	}
	return out, nil
}

// wordLength is how long the operator, the parenthesis or the word is that a text begins with.
func wordLength(text string) int {
	for _, o := range operators {
		if strings.HasPrefix(text, o) {
			return len(o)
		}
	}
	n := strings.IndexAny(text, " \t\r\n\v\f()=~<>!\"'")
	if n < 0 {
		return len(text)
	}
	return max(n, 1)
}

type conditionParser struct {
	table Table
	words []word
	at    int
}

// take takes the next word if it is one of these.
func (p *conditionParser) take(texts ...string) (string, bool) {
	if p.at == len(p.words) || p.words[p.at].quoted {
		return "", false
	}
	for _, text := range texts {
		if strings.EqualFold(p.words[p.at].text, text) {
			p.at++
			return text, true
		}
	}
	return "", false
}

func (p *conditionParser) unexpected(want string) error {
	if p.at == len(p.words) {
		return fault.At(fault.Malformed, "--where", "the condition ends where %s is expected, as in 'vlan >= 10 and state = up'", want)
	}
	return fault.At(fault.Malformed, "--where", "%.40q is where %s is expected, as in 'vlan >= 10 and state = up'",
		p.words[p.at].text, want)
}

func (p *conditionParser) parseOr() (condition, error) {
	left, err := p.parseAnd()
	for err == nil {
		if _, ok := p.take("or"); !ok {
			return left, nil
		}
		var right condition
		before := left
		right, err = p.parseAnd()
		left = func(row []any) bool { return before(row) || right(row) }
	}
	return nil, err
}

func (p *conditionParser) parseAnd() (condition, error) {
	left, err := p.parseOne()
	for err == nil {
		if _, ok := p.take("and"); !ok {
			return left, nil
		}
		var right condition
		before := left
		right, err = p.parseOne()
		left = func(row []any) bool { return before(row) && right(row) }
	}
	return nil, err
}

func (p *conditionParser) parseOne() (condition, error) {
	if _, ok := p.take("not"); ok {
		c, err := p.parseOne()
		return func(row []any) bool { return !c(row) }, err
	}
	if _, ok := p.take("("); ok {
		c, err := p.parseOr()
		if err != nil {
			return nil, err
		}
		if _, ok := p.take(")"); !ok {
			return nil, p.unexpected("the closing parenthesis")
		}
		return c, nil
	}
	return p.parseComparison()
}

func (p *conditionParser) parseComparison() (condition, error) {
	name, ok := p.takeValue()
	if !ok {
		return nil, p.unexpected("the name of a column")
	}
	at := -1
	if name != anyColumn {
		i, err := p.table.column("--where", name)
		if err != nil {
			return nil, err
		}
		at = i
	}
	operator, ok := p.take(operators...)
	if !ok {
		return nil, p.unexpected("one of " + strings.Join(operators, " "))
	}
	value, ok := p.takeValue()
	if !ok {
		return nil, p.unexpected("a value")
	}
	want := sortKeyOf(value)
	return func(row []any) bool {
		if at >= 0 {
			return compares(row[at], operator, want)
		}
		// Every column: one that is so is enough, and none may be so where the condition denies.
		if positive, denied := strings.CutPrefix(operator, "!"); denied {
			return !slices.ContainsFunc(row, func(v any) bool { return compares(v, positive, want) })
		}
		return slices.ContainsFunc(row, func(v any) bool { return compares(v, operator, want) })
	}, nil
}

// takeValue takes a name or a value.
func (p *conditionParser) takeValue() (string, bool) {
	if p.at == len(p.words) {
		return "", false
	}
	w := p.words[p.at]
	if !w.quoted && (w.text == "(" || w.text == ")" || w.text == "!" || slices.Contains(operators, w.text)) {
		return "", false
	}
	p.at++
	return w.text, true
}

// compares compares a cell with a value. A list compares as one that has an element which does.
func compares(cell any, operator string, value sortKey) bool {
	if positive, denied := strings.CutPrefix(operator, "!"); denied {
		return !compares(cell, positive, value)
	}
	if list, ok := cell.([]any); ok {
		return slices.ContainsFunc(list, func(one any) bool { return compares(one, operator, value) }) ||
			len(list) == 0 && compares("", operator, value)
	}
	if operator == "~" {
		return strings.Contains(strings.ToLower(textOf(cell)), strings.ToLower(value.text))
	}
	if operator == "=" {
		return equals(cell, value)
	}
	if cell == nil {
		return false // what has no value is neither below nor above
	}
	c := sortKeyOf(cell).compare(value)
	switch operator {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c >= 0
}

func equals(cell any, value sortKey) bool {
	if strings.EqualFold(textOf(cell), value.text) {
		return true
	}
	x, ok := numberOf(cell)
	return ok && value.number != nil && x.Cmp(value.number) == 0
}

// sortKey is what a cell is compared by. It is made once for a cell, since reading a number costs more than comparing two.
type sortKey struct {
	none   bool
	number *big.Rat // nil for a text
	text   string
}

func sortKeyOf(v any) sortKey {
	k := sortKey{none: v == nil, text: textOf(v)}
	if n, ok := numberOf(v); ok {
		k.number = n
	}
	return k
}

// compare orders numbers by their value and texts naturally: port 2 before port 10.
func (k sortKey) compare(other sortKey) int {
	if k.number != nil && other.number != nil {
		return k.number.Cmp(other.number)
	}
	return compareNaturally(k.text, other.text)
}

// numberOf is the number that a cell is; false for a text, even if it looks like one with an exponent or a fraction bar.
func numberOf(v any) (*big.Rat, bool) {
	var text string
	switch v := v.(type) {
	case json.Number:
		text = string(v)
		if strings.ContainsAny(text, "eE") {
			f, err := v.Float64() // an exponent could make a number of any length
			if err != nil {
				return nil, false
			}
			return new(big.Rat).SetFloat64(f), true
		}
	case string:
		text = v
	default:
		return nil, false
	}
	if text == "" || len(text) > 64 || strings.Trim(text, "0123456789.-+") != "" {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// compareNaturally compares texts whose digits are numbers.
func compareNaturally(a, b string) int {
	x, y := strings.ToLower(a), strings.ToLower(b)
	for x != "" && y != "" {
		n, m := digits(x), digits(y)
		if n == 0 || m == 0 {
			if x[0] != y[0] {
				return cmp.Compare(x[0], y[0])
			}
			x, y = x[1:], y[1:]
			continue
		}
		u, v := strings.TrimLeft(x[:n], "0"), strings.TrimLeft(y[:m], "0")
		if c := cmp.Or(cmp.Compare(len(u), len(v)), cmp.Compare(u, v)); c != 0 {
			return c
		}
		x, y = x[n:], y[m:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b))
}

// digits is how many digits a text begins with.
func digits(s string) int {
	return len(s) - len(strings.TrimLeft(s, "0123456789"))
}
