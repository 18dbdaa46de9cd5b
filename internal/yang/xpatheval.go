package yang

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxXSteps bounds the work of one evaluation: nodes that are looked at.
const maxXSteps = 2_000_000

// errXSteps is why an evaluation was given up.
var errXSteps = errors.New("the expression takes too long on this data")

// xvalue is the value of an expression: a set of nodes in document order, or one of string, float64 and bool.
type xvalue struct {
	set []*Data
	one any // nil for a set
}

// xeval is one evaluation.
type xeval struct {
	current *Data
	module  string // of names without a prefix; empty: any
	root    *Data  // above the top-level nodes
	steps   int
	err     error
}

// xcontext is where an expression is evaluated.
type xcontext struct {
	at             *Data
	position, size int
}

// Holds reports whether the expression is true at an instance, which is current(). Root is above all top-level instances.
func (x *XPath) Holds(at, root *Data) (bool, error) {
	e := xeval{current: at, root: root}
	v := e.eval(&x.root, xcontext{at, 1, 1})
	return v.bool(), e.err
}

// Filter returns the instances at which the expression is true; each is the top of what it may look at.
func (x *XPath) Filter(list []*Data) (out []*Data, err error) {
	e := xeval{}
	for _, d := range list {
		e.current, e.root, e.steps = d, d, max(0, e.steps-maxXSteps/1000) // a long list may take as many steps more
		if e.eval(&x.root, xcontext{d, 1, 1}).bool() {
			out = append(out, d)
		}
		if e.err != nil {
			return nil, e.err
		}
	}
	return out, nil
}

// holds is Holds of a constraint, whose names without a prefix are of the module of the node.
func (x *XPath) holds(at, root *Data, module string) (bool, error) {
	e := xeval{current: at, root: root, module: module}
	v := e.eval(&x.root, xcontext{at, 1, 1})
	return v.bool(), e.err
}

func (e *xeval) step() bool {
	if e.steps++; e.steps > maxXSteps && e.err == nil {
		e.err = errXSteps
	}
	return e.err == nil
}

func (v xvalue) bool() bool {
	switch one := v.one.(type) {
	case bool:
		return one
	case string:
		return one != ""
	case float64:
		return one != 0 && !math.IsNaN(one)
	}
	return len(v.set) > 0
}

func (v xvalue) string() string {
	switch one := v.one.(type) {
	case bool:
		return strconv.FormatBool(one)
	case string:
		return one
	case float64:
		return xnumber(one)
	}
	if len(v.set) == 0 {
		return ""
	}
	return xtext(v.set[0])
}

func (v xvalue) number() float64 {
	switch one := v.one.(type) {
	case bool:
		return float64(btou(one))
	case float64:
		return one
	}
	return toNumber(v.string())
}

func btou(b bool) int {
	if b {
		return 1
	}
	return 0
}

func toNumber(s string) float64 {
	s = strings.Trim(s, " \t\r\n")
	if strings.ContainsAny(s, "eExXpPiInN_+") { // forms of Go that XPath does not have
		return math.NaN()
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

func xnumber(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	case v == 0:
		return "0"
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// xtext is the string-value of a node: of a leaf its value, of others that of all leaves below it.
func xtext(d *Data) string {
	if d.kind != jObject && d.kind != jArray {
		return d.Text()
	}
	var b strings.Builder
	for c := d.first; c != nil; c = c.next {
		b.WriteString(xtext(c))
	}
	return b.String()
}

func boolean(b bool) xvalue { return xvalue{one: b} }

func (e *xeval) eval(n *xnode, c xcontext) xvalue {
	if !e.step() {
		return boolean(false)
	}
	switch n.kind {
	case xLiteral:
		return xvalue{one: n.text}
	case xNumber:
		return xvalue{one: n.number}
	case xNegation:
		return xvalue{one: -e.eval(&n.args[0], c).number()}
	case xFunction:
		return n.call(e, n, c)
	case xPath:
		from := []*Data{c.at}
		if n.op == "/" {
			from = []*Data{e.top()}
		}
		return xvalue{set: e.walk(from, n.args)}
	case xFilter:
		set := e.eval(&n.args[0], c).set
		for i := range n.args[1:] {
			set = e.filter(set, &n.args[1+i])
		}
		return xvalue{set: set}
	case xJoin:
		return xvalue{set: e.walk(e.eval(&n.args[0], c).set, n.args[1].args)}
	}
	return e.operator(n, c)
}

// top is the node above all top-level nodes.
func (e *xeval) top() *Data {
	if e.root != nil {
		return e.root
	}
	at := e.current
	for at.parent != nil {
		at = at.parent
	}
	if at.Node != nil && at.Node.Kind == Root {
		return at
	}
	e.root = &Data{kind: jObject, Node: &Node{Kind: Root}, first: at, last: at}
	return e.root
}

func (e *xeval) operator(n *xnode, c xcontext) xvalue {
	left := e.eval(&n.args[0], c)
	switch n.op {
	case "or":
		return boolean(left.bool() || e.eval(&n.args[1], c).bool())
	case "and":
		return boolean(left.bool() && e.eval(&n.args[1], c).bool())
	}
	right := e.eval(&n.args[1], c)
	switch n.op {
	case "|":
		set := slices.Clone(left.set)
		for _, d := range right.set {
			if !slices.Contains(set, d) {
				set = append(set, d)
			}
		}
		return xvalue{set: set}
	case "+":
		return xvalue{one: left.number() + right.number()}
	case "-":
		return xvalue{one: left.number() - right.number()}
	case "*":
		return xvalue{one: left.number() * right.number()}
	case "div":
		return xvalue{one: left.number() / right.number()}
	case "mod":
		return xvalue{one: math.Mod(left.number(), right.number())}
	}
	return boolean(e.compare(n.op, left, right))
}

// compare compares values; a set compares by any of its nodes (XPath 1.0 section 3.4).
func (e *xeval) compare(op string, a, b xvalue) bool {
	if a.one == nil {
		if _, is := b.one.(bool); is {
			return compareOne(op, boolean(a.bool()), b)
		}
		for _, d := range a.set {
			if !e.step() {
				return false
			}
			if e.compare(op, xvalue{one: xtext(d)}, b) {
				return true
			}
		}
		return false
	}
	if b.one == nil {
		if _, is := a.one.(bool); is {
			return compareOne(op, a, boolean(b.bool()))
		}
		for _, d := range b.set {
			if !e.step() {
				return false
			}
			if compareOne(op, a, xvalue{one: xtext(d)}) {
				return true
			}
		}
		return false
	}
	return compareOne(op, a, b)
}

func compareOne(op string, a, b xvalue) bool {
	if op == "=" || op == "!=" {
		_, boolA := a.one.(bool)
		_, boolB := b.one.(bool)
		_, numberA := a.one.(float64)
		_, numberB := b.one.(float64)
		var same bool
		switch {
		case boolA || boolB:
			same = a.bool() == b.bool()
		case numberA || numberB:
			same = a.number() == b.number()
		default:
			same = a.string() == b.string()
		}
		return same == (op == "=")
	}
	x, y := a.number(), b.number()
	switch op {
	case "<":
		return x < y
	case "<=":
		return x <= y
	case ">":
		return x > y
	}
	return x >= y
}

// walk follows steps from a set of nodes.
func (e *xeval) walk(set []*Data, steps []xnode) []*Data {
	for i := range steps {
		var next []*Data
		var seen map[*Data]bool
		if len(set) > 1 {
			seen = map[*Data]bool{}
		}
		for _, d := range set {
			found := e.axis(d, &steps[i])
			for j := range steps[i].args {
				found = e.filter(found, &steps[i].args[j])
			}
			for _, f := range found {
				if seen == nil || !seen[f] {
					next = append(next, f)
				}
				if seen != nil {
					seen[f] = true
				}
			}
		}
		if set = next; len(set) == 0 || e.err != nil {
			return nil
		}
	}
	return set
}

func (e *xeval) filter(set []*Data, predicate *xnode) []*Data {
	var out []*Data
	for i, d := range set {
		v := e.eval(predicate, xcontext{d, i + 1, len(set)})
		if n, is := v.one.(float64); is && n == float64(i+1) || !is && v.bool() {
			out = append(out, d)
		}
	}
	return out
}

// xparent is the node that a node stands in: entries stand in what their list stands in.
func xparent(d *Data) *Data {
	p := d.parent
	if p != nil && p.kind == jArray {
		p = p.parent
	}
	return p
}

// children calls f for the nodes that stand in d.
func (e *xeval) children(d *Data, f func(*Data)) {
	if d.Node != nil && d.Node.IsLeaf() {
		return
	}
	for c := d.first; c != nil && e.step(); c = c.next {
		if c.kind == jArray && c.Node != nil {
			for entry := c.first; entry != nil && e.step(); entry = entry.next {
				f(entry)
			}
			continue
		}
		f(c)
	}
}

// passes reports whether a node has the name of a step.
func (e *xeval) passes(d *Data, s *xnode) bool {
	switch s.name {
	case "node()":
		return true
	case "text()", "comment()", "processing-instruction()":
		return false
	}
	name, module := d.name, ""
	if d.Node != nil {
		if d.Node.Kind == Root {
			return false
		}
		name, module = d.Node.Name, d.Node.Module
	} else if m, local := prefixed(d.name); m != "" {
		name, module = local, m
	}
	want := s.module
	if want == "" && s.name != "*" {
		want = e.module
	}
	return (s.name == "*" || s.name == name) && (want == "" || module == "" || want == module)
}

// axis returns the nodes of a step, in the order of the axis.
func (e *xeval) axis(d *Data, s *xnode) (out []*Data) {
	add := func(c *Data) {
		if e.passes(c, s) {
			out = append(out, c)
		}
	}
	var below func(c *Data)
	below = func(c *Data) { add(c); e.children(c, below) }
	up := func(p *Data) *Data {
		if q := xparent(p); q != nil || p == e.root {
			return q
		}
		return e.top()
	}
	switch s.op {
	case "child":
		e.children(d, add)
	case "self":
		add(d)
	case "parent":
		if p := up(d); p != nil && p != d {
			add(p)
		}
	case "descendant":
		e.children(d, below)
	case "descendant-or-self":
		below(d)
	case "ancestor", "ancestor-or-self":
		if s.op == "ancestor-or-self" {
			add(d)
		}
		for p := up(d); p != nil && p != d && e.step(); d, p = p, up(p) {
			add(p)
		}
	case "following-sibling", "preceding-sibling", "following", "preceding":
		e.siblings(d, up(d), s.op, add, below)
	}
	return out
}

// siblings are the nodes beside one.
func (e *xeval) siblings(d, parent *Data, axis string, add, below func(*Data)) {
	if parent == nil {
		return
	}
	var before, after []*Data
	found := false
	e.children(parent, func(c *Data) {
		switch {
		case c == d:
			found = true
		case found:
			after = append(after, c)
		default:
			before = append(before, c)
		}
	})
	list, each := after, add
	if strings.HasPrefix(axis, "preceding") {
		slices.Reverse(before)
		list = before
	}
	if !strings.HasSuffix(axis, "sibling") {
		each = below
	}
	for _, c := range list {
		each(c)
	}
}

// xfunction is a function with the number of its arguments; max -1: any.
type xfunction struct {
	min, max int
	call     func(e *xeval, n *xnode, c xcontext) xvalue
}

// xFunctions are those of XPath 1.0 section 4 and RFC 7950 section 10.
var xFunctions = func() map[string]xfunction {
	out := map[string]xfunction{}
	coreFunctions(out)
	stringFunctions(out)
	yangFunctions(out)
	return out
}()

func coreFunctions(out map[string]xfunction) {
	out["last"] = xfunction{0, 0, func(_ *xeval, _ *xnode, c xcontext) xvalue { return xvalue{one: float64(c.size)} }}
	out["position"] = xfunction{0, 0, func(_ *xeval, _ *xnode, c xcontext) xvalue { return xvalue{one: float64(c.position)} }}
	out["count"] = xfunction{1, 1, func(e *xeval, n *xnode, c xcontext) xvalue { return xvalue{one: float64(len(e.argument(n, 0, c).set))} }}
	out["id"] = xfunction{1, 1, func(*xeval, *xnode, xcontext) xvalue { return xvalue{} }} // there are no identifiers of XML
	out["lang"] = xfunction{1, 1, func(*xeval, *xnode, xcontext) xvalue { return boolean(false) }}
	out["local-name"] = xfunction{0, 1, xname(func(d *Data) string { return d.Node.Name })}
	out["name"] = xfunction{0, 1, xname(func(d *Data) string { return d.Node.QName() })}
	out["namespace-uri"] = xfunction{0, 1, xname(func(d *Data) string { return d.Node.spaces.uri[d.Node.Module] })}
	out["boolean"] = xfunction{1, 1, func(e *xeval, n *xnode, c xcontext) xvalue { return boolean(e.argument(n, 0, c).bool()) }}
	out["not"] = xfunction{1, 1, func(e *xeval, n *xnode, c xcontext) xvalue { return boolean(!e.argument(n, 0, c).bool()) }}
	out["true"] = xfunction{0, 0, func(*xeval, *xnode, xcontext) xvalue { return boolean(true) }}
	out["false"] = xfunction{0, 0, func(*xeval, *xnode, xcontext) xvalue { return boolean(false) }}
	out["number"] = xfunction{0, 1, xnumeric(func(v float64) float64 { return v })}
	out["floor"], out["ceiling"] = xfunction{1, 1, xnumeric(math.Floor)}, xfunction{1, 1, xnumeric(math.Ceil)}
	out["round"] = xfunction{1, 1, xnumeric(func(v float64) float64 { return math.Floor(v + 0.5) })}
	out["sum"] = xfunction{1, 1, func(e *xeval, n *xnode, c xcontext) xvalue {
		sum := 0.0
		for _, d := range e.argument(n, 0, c).set {
			sum += toNumber(xtext(d))
		}
		return xvalue{one: sum}
	}}
}

func stringFunctions(out map[string]xfunction) {
	out["string"] = xfunction{0, 1, xstring(func(s string) any { return s })}
	out["string-length"] = xfunction{0, 1, xstring(characters)}
	out["normalize-space"] = xfunction{0, 1, xstring(func(s string) any { return strings.Join(strings.Fields(s), " ") })}
	out["starts-with"] = xfunction{2, 2, xstrings(func(a, b string) any { return strings.HasPrefix(a, b) })}
	out["contains"] = xfunction{2, 2, xstrings(func(a, b string) any { return strings.Contains(a, b) })}
	out["substring-before"] = xfunction{2, 2, xstrings(func(a, b string) any {
		before, _, ok := strings.Cut(a, b)
		if !ok {
			return ""
		}
		return before
	})}
	out["substring-after"] = xfunction{2, 2, xstrings(func(a, b string) any { _, after, _ := strings.Cut(a, b); return after })}
	out["concat"] = xfunction{2, -1, func(e *xeval, n *xnode, c xcontext) xvalue {
		var b strings.Builder
		for i := range n.args {
			b.WriteString(e.argument(n, i, c).string())
		}
		return xvalue{one: b.String()}
	}}
	out["substring"] = xfunction{2, 3, func(e *xeval, n *xnode, c xcontext) xvalue {
		length := math.Inf(1)
		if len(n.args) > 2 {
			length = e.argument(n, 2, c).number()
		}
		return xvalue{one: substring(e.argument(n, 0, c).string(), e.argument(n, 1, c).number(), length)}
	}}
	out["translate"] = xfunction{3, 3, func(e *xeval, n *xnode, c xcontext) xvalue {
		return xvalue{one: translate(e.argument(n, 0, c).string(), e.argument(n, 1, c).string(), e.argument(n, 2, c).string())}
	}}
}

func yangFunctions(out map[string]xfunction) {
	out["current"] = xfunction{0, 0, func(e *xeval, _ *xnode, _ xcontext) xvalue { return xvalue{set: []*Data{e.current}} }}
	out["deref"] = xfunction{1, 1, func(e *xeval, n *xnode, c xcontext) xvalue { return xvalue{set: e.deref(e.argument(n, 0, c).set)} }}
	out["re-match"] = xfunction{2, 2, func(e *xeval, n *xnode, c xcontext) xvalue {
		return boolean(e.reMatch(e.argument(n, 0, c).string(), e.argument(n, 1, c).string()))
	}}
	for name, self := range map[string]bool{"derived-from": false, "derived-from-or-self": true} {
		out[name] = xfunction{2, 2, func(e *xeval, n *xnode, c xcontext) xvalue {
			return boolean(e.derivedFrom(e.argument(n, 0, c).set, e.argument(n, 1, c).string(), self))
		}}
	}
	out["enum-value"] = xfunction{1, 1, func(e *xeval, n *xnode, c xcontext) xvalue {
		set := e.argument(n, 0, c).set
		if len(set) == 0 || set[0].typ == nil || set[0].typ.Base != Enumeration {
			return xvalue{one: math.NaN()}
		}
		return xvalue{one: float64(set[0].typ.values[set[0].Text()])}
	}}
	out["bit-is-set"] = xfunction{2, 2, func(e *xeval, n *xnode, c xcontext) xvalue {
		set := e.argument(n, 0, c).set
		if len(set) == 0 || set[0].typ == nil || set[0].typ.Base != Bits {
			return boolean(false)
		}
		return boolean(slices.Contains(strings.Fields(set[0].Text()), e.argument(n, 1, c).string()))
	}}
}

func (e *xeval) argument(n *xnode, i int, c xcontext) xvalue {
	if i < len(n.args) {
		return e.eval(&n.args[i], c)
	}
	return xvalue{set: []*Data{c.at}}
}

func (e *xeval) reMatch(subject, text string) bool {
	re, err := compilePattern(text)
	if err != nil {
		e.err = fmt.Errorf("re-match(): %w", err)
		return false
	}
	return re.MatchString(subject)
}

// deref returns what a leafref or instance-identifier leads to.
func (e *xeval) deref(set []*Data) (out []*Data) {
	if len(set) == 0 || set[0].Node == nil || !set[0].Node.IsLeaf() {
		return nil
	}
	d := set[0]
	for _, t := range d.Node.Type.flat() {
		switch {
		case t.Base == Leafref && t.expr != nil:
			inner := xeval{current: d, module: d.Node.Module, root: e.top(), steps: e.steps}
			for _, found := range inner.eval(&t.expr.root, xcontext{d, 1, 1}).set {
				if found.Text() == d.Text() {
					out = append(out, found)
				}
			}
			e.steps = inner.steps
		case t.Base == InstanceIdentifier && d.typ != nil && d.typ.Base == InstanceIdentifier:
			steps, err := ParsePath(d.Text())
			if err == nil {
				out = append(out, e.instance(steps)...)
			}
		}
	}
	return out
}

// instance follows an instance-identifier.
func (e *xeval) instance(steps []Step) []*Data {
	set := []*Data{e.top()}
	for _, s := range steps {
		step := xnode{kind: xStep, op: "child", name: s.Name, module: s.Module}
		var next []*Data
		for _, d := range set {
			for i, c := range e.axis(d, &step) {
				if s.Position == 0 && matchesKeys(c, s.Keys) || s.Position == i+1 {
					next = append(next, c)
				}
			}
		}
		set = next
	}
	return set
}

func matchesKeys(d *Data, keys map[string]string) bool {
	for name, want := range keys {
		if name == "." {
			if d.Text() != want {
				return false
			}
			continue
		}
		if k := d.Node.child(d.Node.Module, name); k == nil || d.Get(k) == nil || d.Get(k).Text() != want {
			return false
		}
	}
	return true
}

// derived reports whether a node of a set has an identity that is derived from another one.
func (e *xeval) derivedFrom(set []*Data, name string, self bool) bool {
	for _, d := range set {
		if d.typ == nil || d.typ.Base != Identityref || d.Node.spaces == nil {
			continue
		}
		module, local := prefixed(name)
		if module == "" {
			module = e.module
		}
		have := d.Text()
		if !strings.Contains(have, ":") {
			have = d.Node.Module + ":" + have
		}
		want := module + ":" + local
		if self && have == want || slices.Contains(d.Node.spaces.derived[want], have) {
			return true
		}
	}
	return false
}

func xstring(f func(s string) any) func(*xeval, *xnode, xcontext) xvalue {
	return func(e *xeval, n *xnode, c xcontext) xvalue { return xvalue{one: f(e.argument(n, 0, c).string())} }
}

func xnumeric(f func(float64) float64) func(*xeval, *xnode, xcontext) xvalue {
	return func(e *xeval, n *xnode, c xcontext) xvalue { return xvalue{one: f(e.argument(n, 0, c).number())} }
}

func xstrings(f func(a, b string) any) func(*xeval, *xnode, xcontext) xvalue {
	return func(e *xeval, n *xnode, c xcontext) xvalue {
		return xvalue{one: f(e.argument(n, 0, c).string(), e.argument(n, 1, c).string())}
	}
}

func xname(f func(d *Data) string) func(*xeval, *xnode, xcontext) xvalue {
	return func(e *xeval, n *xnode, c xcontext) xvalue {
		set := e.argument(n, 0, c).set
		if len(set) == 0 || set[0].Node == nil || set[0].Node.Kind == Root {
			return xvalue{one: ""}
		}
		return xvalue{one: f(set[0])}
	}
}

// substring is that of XPath, which counts characters from 1 and rounds.
func substring(s string, from, length float64) string {
	var b strings.Builder
	begin := math.Floor(from + 0.5)
	end := begin + math.Floor(length+0.5)
	i := 0.0
	for _, r := range s {
		if i++; i >= begin && (math.IsInf(length, 1) && begin == begin || i < end) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func translate(s, from, to string) string {
	f, t := []rune(from), []rune(to)
	return strings.Map(func(r rune) rune {
		switch i := slices.Index(f, r); {
		case i < 0:
			return r
		case i < len(t):
			return t[i]
		}
		return -1
	}, s)
}

// characters is the length of a string.
func characters(s string) any { return float64(utf8.RuneCountInString(s)) }
