package yang

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
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
	lists   Lists  // nil: all data is below root
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
	v := e.evalNode(&x.root, xcontext{at, 1, 1})
	return v.toBool(), e.err
}

// Filter returns the instances at which the expression is true; each is the top of what it may look at.
func (x *XPath) Filter(list []*Data) (out []*Data, err error) {
	e := xeval{}
	for _, d := range list {
		e.current, e.root, e.steps = d, d, max(0, e.steps-maxXSteps/1000) // a long list may take as many steps more
		if e.evalNode(&x.root, xcontext{d, 1, 1}).toBool() {
			out = append(out, d)
		}
		if e.err != nil {
			return nil, e.err
		}
	}
	return out, nil
}

func (e *xeval) countStep() bool {
	if e.steps++; e.steps > maxXSteps && e.err == nil {
		e.err = errXSteps
	}
	return e.err == nil
}

func (v xvalue) toBool() bool {
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

func (v xvalue) toString() string {
	switch one := v.one.(type) {
	case bool:
		return strconv.FormatBool(one)
	case string:
		return one
	case float64:
		return formatXNumber(one)
	}
	if len(v.set) == 0 {
		return ""
	}
	return stringValue(v.set[0])
}

func (v xvalue) toNumber() float64 {
	switch one := v.one.(type) {
	case bool:
		return float64(boolToInt(one))
	case float64:
		return one
	}
	return toNumber(v.toString())
}

func boolToInt(b bool) int {
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

func formatXNumber(v float64) string {
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

// stringValue is the string-value of a node: of a leaf its value, of others that of all leaves below it.
func stringValue(d *Data) string {
	if d.kind != jObject && d.kind != jArray {
		return d.Text()
	}
	var b strings.Builder
	for c := d.first; c != nil; c = c.next {
		b.WriteString(stringValue(c))
	}
	return b.String()
}

func newXBoolean(b bool) xvalue { return xvalue{one: b} }

func (e *xeval) evalNode(n *xnode, c xcontext) xvalue {
	if !e.countStep() {
		return newXBoolean(false)
	}
	switch n.kind {
	case xLiteral:
		return xvalue{one: n.text}
	case xNumber:
		return xvalue{one: n.number}
	case xNegation:
		return xvalue{one: -e.evalNode(&n.args[0], c).toNumber()}
	case xFunction:
		return n.call(e, n, c)
	case xPath:
		from := []*Data{c.at}
		if n.op == "/" {
			from = []*Data{e.topNode()}
		}
		return xvalue{set: e.walkSteps(from, n.args)}
	case xFilter:
		set := e.evalNode(&n.args[0], c).set
		for i := range n.args[1:] {
			set = e.filterNodes(set, &n.args[1+i])
		}
		return xvalue{set: set}
	case xJoin:
		return xvalue{set: e.walkSteps(e.evalNode(&n.args[0], c).set, n.args[1].args)}
	}
	return e.evalOperator(n, c)
}

// topNode is the node above all top-level nodes.
func (e *xeval) topNode() *Data {
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
	e.root = &Data{
		kind:  jObject,
		Node:  &Node{Kind: Root},
		first: at,
		last:  at,
	}
	return e.root
}

func (e *xeval) evalOperator(n *xnode, c xcontext) xvalue {
	left := e.evalNode(&n.args[0], c)
	switch n.op {
	case "or":
		return newXBoolean(left.toBool() || e.evalNode(&n.args[1], c).toBool())
	case "and":
		return newXBoolean(left.toBool() && e.evalNode(&n.args[1], c).toBool())
	}
	right := e.evalNode(&n.args[1], c)
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
		return xvalue{one: left.toNumber() + right.toNumber()}
	case "-":
		return xvalue{one: left.toNumber() - right.toNumber()}
	case "*":
		return xvalue{one: left.toNumber() * right.toNumber()}
	case "div":
		return xvalue{one: left.toNumber() / right.toNumber()}
	case "mod":
		return xvalue{one: math.Mod(left.toNumber(), right.toNumber())}
	}
	return newXBoolean(e.compareValues(n.op, left, right))
}

// compareValues compares values; a set compares by any of its nodes (XPath 1.0 section 3.4).
func (e *xeval) compareValues(op string, a, b xvalue) bool {
	if a.one == nil {
		if _, is := b.one.(bool); is {
			return compareOne(op, newXBoolean(a.toBool()), b)
		}
		for _, d := range a.set {
			if !e.countStep() {
				return false
			}
			if e.compareValues(op, xvalue{one: stringValue(d)}, b) {
				return true
			}
		}
		return false
	}
	if b.one == nil {
		if _, is := a.one.(bool); is {
			return compareOne(op, a, newXBoolean(b.toBool()))
		}
		for _, d := range b.set {
			if !e.countStep() {
				return false
			}
			if compareOne(op, a, xvalue{one: stringValue(d)}) {
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
			same = a.toBool() == b.toBool()
		case numberA || numberB:
			same = a.toNumber() == b.toNumber()
		default:
			same = a.toString() == b.toString()
		}
		return same == (op == "=")
	}
	x, y := a.toNumber(), b.toNumber()
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

// walkSteps follows steps from a set of nodes.
func (e *xeval) walkSteps(set []*Data, steps []xnode) []*Data {
	for i := range steps {
		var next []*Data
		var seen map[*Data]bool
		if len(set) > 1 {
			seen = map[*Data]bool{}
		}
		for _, d := range set {
			found := e.axisNodes(d, &steps[i])
			for j := range steps[i].args {
				found = e.filterNodes(found, &steps[i].args[j])
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

func (e *xeval) filterNodes(set []*Data, predicate *xnode) []*Data {
	var out []*Data
	for i, d := range set {
		v := e.evalNode(predicate, xcontext{d, i + 1, len(set)})
		n, is := v.one.(float64)
		if is && n == float64(i+1) || !is && v.toBool() {
			out = append(out, d)
		}
	}
	return out
}

// xpathParent is the parent of a node; that of an entry is the parent of its list.
func xpathParent(d *Data) *Data {
	p := d.parent
	if p != nil && p.kind == jArray {
		p = p.parent
	}
	return p
}

// forEachChild calls f for the nodes in d.
func (e *xeval) forEachChild(d *Data, f func(*Data)) {
	e.ownChildren(d, f)
	if e.apart(d) {
		for _, m := range d.Node.members {
			e.members(d, m, f)
		}
	}
}

func (e *xeval) ownChildren(d *Data, f func(*Data)) {
	if d.Node != nil && d.Node.IsLeaf() {
		return
	}
	for c := d.first; c != nil && e.countStep(); c = c.next {
		if c.kind == jArray && c.Node != nil {
			for entry := c.first; entry != nil && e.countStep(); entry = entry.next {
				f(entry)
			}
			continue
		}
		f(c)
	}
}

// passesNodeTest reports whether a node has the name of a step.
func (e *xeval) passesNodeTest(d *Data, s *xnode) bool {
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
	} else if m, local := splitPrefix(d.name); m != "" {
		name, module = local, m
	}
	want := s.module
	if want == "" && s.name != "*" {
		want = e.module
	}
	return (s.name == "*" || s.name == name) && (want == "" || module == "" || want == module)
}

// axisNodes returns the nodes of a step, in the order of the axis.
func (e *xeval) axisNodes(d *Data, s *xnode) (out []*Data) {
	add := func(c *Data) {
		if e.passesNodeTest(c, s) {
			out = append(out, c)
		}
	}
	var below func(c *Data)
	below = func(c *Data) { add(c); e.forEachChild(c, below) }
	up := func(p *Data) *Data {
		if q := xpathParent(p); q != nil || p == e.root {
			return q
		}
		return e.topNode()
	}
	switch s.op {
	case "child":
		e.ownChildren(d, add)
		if e.apart(d) {
			e.apartChildren(d, s, add)
		}
	case "self":
		add(d)
	case "parent":
		if p := up(d); p != nil && p != d {
			add(p)
		}
	case "descendant":
		e.forEachChild(d, below)
	case "descendant-or-self":
		below(d)
	case "ancestor", "ancestor-or-self":
		if s.op == "ancestor-or-self" {
			add(d)
		}
		for p := up(d); p != nil && p != d && e.countStep(); d, p = p, up(p) {
			add(p)
		}
	case "following-sibling", "preceding-sibling", "following", "preceding":
		e.addSiblings(d, up(d), s.op, add, below)
	}
	return out
}

// addSiblings are the nodes beside one.
func (e *xeval) addSiblings(d, parent *Data, axis string, add, below func(*Data)) {
	if parent == nil {
		return
	}
	var before, after []*Data
	found := false
	e.forEachChild(parent, func(c *Data) {
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
