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
			inner := xeval{current: d, module: d.Node.Module, root: e.top(), lists: e.lists, steps: e.steps}
			set, ok := inner.referred(d, t)
			if !ok {
				set = inner.eval(&t.expr.root, xcontext{d, 1, 1}).set
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
