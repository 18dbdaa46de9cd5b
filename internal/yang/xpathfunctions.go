package yang

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

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
	out["last"] = xfunction{0, 0, func(_ *xeval, _ *xnode, c xcontext) xvalue {
		return xvalue{one: float64(c.size)}
	}}
	out["position"] = xfunction{0, 0, func(_ *xeval, _ *xnode, c xcontext) xvalue {
		return xvalue{one: float64(c.position)}
	}}
	out["count"] = xfunction{1, 1, func(e *xeval, n *xnode, c xcontext) xvalue {
		return xvalue{one: float64(len(e.evalArgument(n, 0, c).set))}
	}}
	out["id"] = xfunction{1, 1, func(*xeval, *xnode, xcontext) xvalue {
		return xvalue{}
	}} // there are no identifiers of XML
	out["lang"] = xfunction{1, 1, func(*xeval, *xnode, xcontext) xvalue {
		return newXBoolean(false)
	}}
	out["local-name"] = xfunction{0, 1, newNameFunction(func(d *Data) string {
		return d.Node.Name
	})}
	out["name"] = xfunction{0, 1, newNameFunction(func(d *Data) string {
		return d.Node.QName()
	})}
	out["namespace-uri"] = xfunction{0, 1, newNameFunction(func(d *Data) string {
		return d.Node.spaces.uri[d.Node.Module]
	})}
	out["boolean"] = xfunction{1, 1, func(e *xeval, n *xnode, c xcontext) xvalue {
		return newXBoolean(e.evalArgument(n, 0, c).toBool())
	}}
	out["not"] = xfunction{1, 1, func(e *xeval, n *xnode, c xcontext) xvalue {
		return newXBoolean(!e.evalArgument(n, 0, c).toBool())
	}}
	out["true"] = xfunction{0, 0, func(*xeval, *xnode, xcontext) xvalue {
		return newXBoolean(true)
	}}
	out["false"] = xfunction{0, 0, func(*xeval, *xnode, xcontext) xvalue {
		return newXBoolean(false)
	}}
	out["number"] = xfunction{0, 1, newNumberFunction(func(v float64) float64 {
		return v
	})}
	out["floor"], out["ceiling"] = xfunction{1, 1, newNumberFunction(math.Floor)}, xfunction{1, 1, newNumberFunction(math.Ceil)}
	out["round"] = xfunction{1, 1, newNumberFunction(func(v float64) float64 {
		return math.Floor(v + 0.5)
	})}
	out["sum"] = xfunction{1, 1, func(e *xeval, n *xnode, c xcontext) xvalue {
		sum := 0.0
		for _, d := range e.evalArgument(n, 0, c).set {
			sum += toNumber(stringValue(d))
		}
		return xvalue{one: sum}
	}}
}

func stringFunctions(out map[string]xfunction) {
	out["string"] = xfunction{0, 1, newStringFunction(func(s string) any { return s })}
	out["string-length"] = xfunction{0, 1, newStringFunction(stringLength)}
	out["normalize-space"] = xfunction{0, 1, newStringFunction(func(s string) any {
		return strings.Join(strings.Fields(s), " ")
	})}
	out["starts-with"] = xfunction{2, 2, newTwoStringFunction(func(a, b string) any {
		return strings.HasPrefix(a, b)
	})}
	out["contains"] = xfunction{2, 2, newTwoStringFunction(func(a, b string) any {
		return strings.Contains(a, b)
	})}
	out["substring-before"] = xfunction{2, 2, newTwoStringFunction(func(a, b string) any {
		before, _, ok := strings.Cut(a, b)
		if !ok {
			return ""
		}
		return before
	})}
	out["substring-after"] = xfunction{2, 2, newTwoStringFunction(func(a, b string) any {
		_, after, _ := strings.Cut(a, b)
		return after
	})}
	out["concat"] = xfunction{2, -1, func(e *xeval, n *xnode, c xcontext) xvalue {
		var b strings.Builder
		for i := range n.args {
			b.WriteString(e.evalArgument(n, i, c).toString())
		}
		return xvalue{one: b.String()}
	}}
	out["substring"] = xfunction{2, 3, func(e *xeval, n *xnode, c xcontext) xvalue {
		length := math.Inf(1)
		if len(n.args) > 2 {
			length = e.evalArgument(n, 2, c).toNumber()
		}
		return xvalue{one: xpathSubstring(
			e.evalArgument(n, 0, c).toString(),
			e.evalArgument(n, 1, c).toNumber(),
			length,
		)}
	}}
	out["translate"] = xfunction{3, 3, func(e *xeval, n *xnode, c xcontext) xvalue {
		return xvalue{one: translateCharacters(
			e.evalArgument(n, 0, c).toString(),
			e.evalArgument(n, 1, c).toString(),
			e.evalArgument(n, 2, c).toString(),
		)}
	}}
}

func yangFunctions(out map[string]xfunction) {
	out["current"] = xfunction{0, 0, func(e *xeval, _ *xnode, _ xcontext) xvalue {
		return xvalue{set: []*Data{e.current}}
	}}
	out["deref"] = xfunction{1, 1, func(e *xeval, n *xnode, c xcontext) xvalue {
		return xvalue{set: e.derefNodes(e.evalArgument(n, 0, c).set)}
	}}
	out["re-match"] = xfunction{2, 2, func(e *xeval, n *xnode, c xcontext) xvalue {
		return newXBoolean(e.reMatch(
			e.evalArgument(n, 0, c).toString(),
			e.evalArgument(n, 1, c).toString(),
		))
	}}
	for name, self := range map[string]bool{
		"derived-from":         false,
		"derived-from-or-self": true,
	} {
		out[name] = xfunction{2, 2, func(e *xeval, n *xnode, c xcontext) xvalue {
			return newXBoolean(e.derivedFrom(
				e.evalArgument(n, 0, c).set,
				e.evalArgument(n, 1, c).toString(),
				self,
			))
		}}
	}
	out["enum-value"] = xfunction{1, 1, func(e *xeval, n *xnode, c xcontext) xvalue {
		set := e.evalArgument(n, 0, c).set
		if len(set) == 0 || set[0].typ == nil || set[0].typ.Base != Enumeration {
			return xvalue{one: math.NaN()}
		}
		return xvalue{one: float64(set[0].typ.values[set[0].Text()])}
	}}
	out["bit-is-set"] = xfunction{2, 2, func(e *xeval, n *xnode, c xcontext) xvalue {
		set := e.evalArgument(n, 0, c).set
		if len(set) == 0 || set[0].typ == nil || set[0].typ.Base != Bits {
			return newXBoolean(false)
		}
		return newXBoolean(slices.Contains(
			strings.Fields(set[0].Text()),
			e.evalArgument(n, 1, c).toString(),
		))
	}}
}

func (e *xeval) evalArgument(n *xnode, i int, c xcontext) xvalue {
	if i < len(n.args) {
		return e.evalNode(&n.args[i], c)
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

// derefNodes returns what a leafref or instance-identifier leads to.
func (e *xeval) derefNodes(set []*Data) (out []*Data) {
	if len(set) == 0 || set[0].Node == nil || !set[0].Node.IsLeaf() {
		return nil
	}
	d := set[0]
	for _, t := range d.Node.Type.unionMembers() {
		switch {
		case t.Base == Leafref && t.expr != nil:
			inner := xeval{
				current: d,
				module:  d.Node.Module,
				root:    e.topNode(),
				lists:   e.lists,
				steps:   e.steps,
			}
			set, ok := inner.referred(d, t)
			if !ok {
				set = inner.evalNode(&t.expr.root, xcontext{d, 1, 1}).set
			}
			for _, found := range set {
				if found.Text() == d.Text() {
					out = append(out, found)
				}
			}
			e.steps = inner.steps
			e.err = cmp.Or(e.err, inner.err)
		case t.Base == InstanceIdentifier && d.typ != nil && d.typ.Base == InstanceIdentifier:
			steps, err := ParsePath(d.Text())
			if err == nil {
				out = append(out, e.followInstance(steps)...)
			}
		}
	}
	return out
}

// followInstance follows an instance-identifier.
func (e *xeval) followInstance(steps []Step) []*Data {
	set := []*Data{e.topNode()}
	for _, s := range steps {
		step := xnode{
			kind:   xStep,
			op:     "child",
			name:   s.Name,
			module: s.Module,
		}
		var next []*Data
		for _, d := range set {
			for i, c := range e.axisNodes(d, &step) {
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
		k := d.Node.childNamed(d.Node.Module, name)
		if k == nil || d.Get(k) == nil || d.Get(k).Text() != want {
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
		module, local := splitPrefix(name)
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

func newStringFunction(f func(s string) any) func(*xeval, *xnode, xcontext) xvalue {
	return func(e *xeval, n *xnode, c xcontext) xvalue {
		return xvalue{one: f(e.evalArgument(n, 0, c).toString())}
	}
}

func newNumberFunction(f func(float64) float64) func(*xeval, *xnode, xcontext) xvalue {
	return func(e *xeval, n *xnode, c xcontext) xvalue {
		return xvalue{one: f(e.evalArgument(n, 0, c).toNumber())}
	}
}

func newTwoStringFunction(f func(a, b string) any) func(*xeval, *xnode, xcontext) xvalue {
	return func(e *xeval, n *xnode, c xcontext) xvalue {
		return xvalue{one: f(
			e.evalArgument(n, 0, c).toString(),
			e.evalArgument(n, 1, c).toString(),
		)}
	}
}

func newNameFunction(f func(d *Data) string) func(*xeval, *xnode, xcontext) xvalue {
	return func(e *xeval, n *xnode, c xcontext) xvalue {
		set := e.evalArgument(n, 0, c).set
		if len(set) == 0 || set[0].Node == nil || set[0].Node.Kind == Root {
			return xvalue{one: ""}
		}
		return xvalue{one: f(set[0])}
	}
}

// xpathSubstring is that of XPath, which counts characters from 1 and rounds.
func xpathSubstring(s string, from, length float64) string {
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

func translateCharacters(s, from, to string) string {
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

// stringLength is the length of a string.
func stringLength(s string) any {
	return float64(utf8.RuneCountInString(s))
}
