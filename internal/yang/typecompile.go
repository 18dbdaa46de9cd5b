package yang

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// builtin are the built-in types by name.
var builtin = func() map[string]Base {
	out := map[string]Base{}
	for b, name := range baseNames {
		if name != "" {
			out[name] = Base(b)
		}
	}
	return out
}()

// pattern is one restriction of a string.
type pattern struct {
	text   string // as the module writes it
	re     *regexp.Regexp
	invert bool
	says   saying
}

// compileLeafType compiles the type of a leaf.
func (c *compiler) compileLeafType(s *statement, n *Node) *Type {
	t := c.compileType(s)
	if t.local {
		t = c.localizeType(t, n)
	}
	return t
}

// localizeType copies a type with a leafref in it for the leaf that it is used at.
func (c *compiler) localizeType(t *Type, n *Node) *Type {
	own := *t
	switch t.Base {
	case Leafref:
		c.refs = append(c.refs, &pendingRef{&own, n})
	case Union:
		own.Members = slices.Clone(t.Members)
		for i, m := range own.Members {
			if m.local {
				own.Members[i] = c.localizeType(m, n)
			}
		}
	}
	return &own
}

// compileType compiles a type statement, once for all leaves that have it by a grouping or typedef.
func (c *compiler) compileType(s *statement) *Type {
	if t := c.types[s]; t != nil {
		return t
	}
	var t Type
	base := builtin[s.arg]
	if base == 0 {
		def := s.findDefinition("typedef", s.arg)
		switch {
		case def == nil:
			c.addFault(s, "there is no type %q%s", s.arg, c.unknownPrefix(s, s.arg))
			base = String
		case c.active[def]:
			c.addFault(def, "the typedef %q refers to itself", def.arg)
			base = String
		default:
			c.active[def] = true
			t = *c.compileTypedef(def)
			delete(c.active, def)
		}
	}
	if base != 0 {
		t = Type{
			Base:      base,
			MustExist: true,
			span:      limits[base],
		}
	}
	derived := base == 0
	_, t.Name = splitPrefix(s.arg)
	c.types[s] = &t
	c.restrictType(&t, s, derived)
	return &t
}

func (c *compiler) compileTypedef(def *statement) *Type {
	t := *c.compileType(def.firstSub("type"))
	if d := def.firstSub("default"); d != nil {
		t.dflt = d
	}
	if u := firstArgument(def, "units"); u != "" {
		t.units = u
	}
	return &t
}

// unknownPrefix says that it is the prefix of a name that is not known.
func (c *compiler) unknownPrefix(s *statement, name string) string {
	prefix, _ := splitPrefix(name)
	if prefix != "" && s.moduleOf(prefix) == nil {
		return fmt.Sprintf(": no import has the prefix %q", prefix)
	}
	return ""
}

// restrictions are the statements that each built-in type may have.
var restrictions = map[Base]string{
	Decimal64:          "fraction-digits range",
	String:             "length pattern",
	Binary:             "length",
	Enumeration:        "enum",
	Bits:               "bit",
	Leafref:            "path require-instance",
	InstanceIdentifier: "require-instance",
	Identityref:        "base",
	Union:              "type",
	Boolean:            "",
	Empty:              "",
}

// restrictType applies the restrictions of a type statement.
func (c *compiler) restrictType(t *Type, s *statement, derived bool) {
	may, ok := restrictions[t.Base]
	if !ok {
		may = "range" // numbers
	}
	for _, r := range s.sub {
		if !strings.Contains(r.keyword, ":") && !slices.Contains(strings.Fields(may), r.keyword) {
			c.addFault(r, "the type %q has no %s", s.arg, r.keyword)
			return
		}
	}
	switch t.Base {
	case Decimal64:
		c.restrictDecimal(t, s, derived)
	case String, Binary:
		c.restrictText(t, s)
	case Enumeration, Bits:
		c.restrictValues(t, s, derived)
	case Identityref:
		c.compileIdentityref(t, s, derived)
	case Leafref:
		c.compileReference(t, s, derived)
	case InstanceIdentifier:
		c.requireInstance(t, s)
	case Union:
		c.compileUnion(t, s, derived)
	case Boolean, Empty:
	default:
		c.restrictRange(t, s, "range", 0)
	}
}

// restrictRange narrows a range.
func (c *compiler) restrictRange(t *Type, s *statement, keyword string, digits int) {
	r := s.firstSub(keyword)
	if r == nil {
		return
	}
	got, why := parseSpans(r.arg, digits, t.span)
	if why != "" {
		c.addFault(r, "range: %s", why)
		return
	}
	t.span, t.rangeText = got, got.formatSpans(digits)
	t.setRestrictionSaying("range", r)
}

// setRestrictionSaying keeps the statement of a restriction for its message and app-tag.
func (t *Type) setRestrictionSaying(keyword string, r *statement) {
	says := map[string]saying{keyword: sayingOf(r)}
	for k, o := range t.says {
		if k != keyword {
			says[k] = o
		}
	}
	t.says = says
}

func (c *compiler) restrictDecimal(t *Type, s *statement, derived bool) {
	d := s.firstSub("fraction-digits")
	switch {
	case d != nil && derived:
		c.addFault(d, "fraction-digits cannot be changed")
	case d != nil:
		t.Digits, _ = strconv.Atoi(d.arg)
	case !derived:
		c.addFault(s, "a decimal64 needs fraction-digits")
		t.Digits = 1
	}
	c.restrictRange(t, s, "range", t.Digits)
}

func (c *compiler) restrictText(t *Type, s *statement) {
	if l := s.firstSub("length"); l != nil {
		outer := t.length
		if outer == nil {
			outer = spans{{number{}, number{Value: math.MaxUint64}}}
		}
		got, why := parseSpans(l.arg, 0, outer)
		if why != "" {
			c.addFault(l, "length: %s", why)
			return
		}
		t.length, t.lengthText = got, got.formatSpans(0)
		t.setRestrictionSaying("length", l)
	}
	for _, p := range s.subsWithKeyword("pattern") {
		re, err := compilePattern(p.arg)
		if err != nil {
			c.addFault(p, "the pattern cannot be used: %v", err)
			continue
		}
		one := pattern{
			text:   p.arg,
			re:     re,
			invert: p.firstSub("modifier") != nil,
			says:   sayingOf(p),
		}
		t.patterns = append(t.patterns[:len(t.patterns):len(t.patterns)], one)
		if !one.invert {
			t.Patterns = append(t.Patterns[:len(t.Patterns):len(t.Patterns)], p.arg)
		}
	}
}

// restrictValues are those of an enumeration or of bits, or the part of them that a derived type leaves.
func (c *compiler) restrictValues(t *Type, s *statement, derived bool) {
	keyword, number := "enum", "value"
	if t.Base == Bits {
		keyword, number = "bit", "position"
	}
	list := s.subsWithKeyword(keyword)
	if len(list) == 0 {
		if !derived {
			c.addFault(s, "%s needs at least one %s", t.Base, keyword)
		}
		return
	}
	outer := t.values
	t.values = map[string]int64{}
	used := map[int64]bool{}
	next := int64(0)
	for _, v := range list {
		at, ok := outer[v.arg]
		given, err := strconv.ParseInt(firstArgument(v, number), 10, 64)
		_, twice := t.values[v.arg]
		switch hasNumber := v.firstSub(number) != nil; {
		case twice:
			c.addFault(v, "the %s %q is there twice", keyword, v.arg)
			continue
		case derived && !ok:
			c.addFault(v, "the type has no %s %q that could be left", keyword, v.arg)
			continue
		case derived && hasNumber && given != at:
			c.addFault(v, "the %s of %q cannot be changed", number, v.arg)
		case hasNumber && (err != nil || t.Base == Enumeration && given != int64(int32(given)) || t.Base == Bits && given > math.MaxUint32):
			c.addFault(v, "%q is out of the range of a %s", firstArgument(v, number), number)
		case !derived && hasNumber:
			at = given
		case !derived:
			at = next
		}
		if used[at] {
			c.addFault(v, "the %s %d is there twice", number, at)
		}
		if used[at] = true; c.isEnabled(v) {
			t.values[v.arg] = at
		}
		next = max(next, at+1)
		if len(t.values) == 1 && len(used) == 1 {
			next = at + 1
		}
	}
	t.Names = byPlace(t.values)
}

func (c *compiler) compileIdentityref(t *Type, s *statement, derived bool) {
	bases := s.subsWithKeyword("base")
	switch {
	case derived && len(bases) > 0:
		c.addFault(bases[0], "the base cannot be changed")
		return
	case derived:
		return
	case len(bases) == 0:
		c.addFault(s, "an identityref needs a base")
		return
	case len(bases) > 1 && s.file.old:
		c.addFault(s, "several bases need yang-version 1.1")
	}
	names := make([]string, 0, len(bases))
	for _, b := range bases {
		def := b.findDefinition("identity", b.arg)
		if def == nil {
			c.addFault(b, "there is no identity %q%s", b.arg, c.unknownPrefix(b, b.arg))
			return
		}
		names = append(names, identityName(def))
	}
	table := c.identitiesOf(names)
	t.Names, t.identities = table.names, table.canonical
}

// identityTable is the values of an identityref, which all types with the same bases share.
type identityTable struct {
	names     []string
	canonical map[string]string // see Type.identities
}

// identitiesOf returns the identities that are derived from all of some bases.
func (c *compiler) identitiesOf(bases []string) *identityTable {
	slices.Sort(bases)
	key := strings.Join(bases, " ")
	if table := c.identities[key]; table != nil {
		return table
	}
	count := map[string]int{}
	for _, b := range bases {
		for _, full := range c.derived[b] {
			count[full]++
		}
	}
	table := &identityTable{canonical: map[string]string{}}
	for full, n := range count {
		if n < len(bases) {
			continue
		}
		table.names = append(table.names, full)
		_, name := splitPrefix(full)
		if o, ok := table.canonical[name]; ok && o != full {
			table.canonical[name] = ""
		} else {
			table.canonical[name] = full
		}
	}
	for _, full := range table.names {
		table.canonical[full] = full
	}
	slices.Sort(table.names)
	c.identities[key] = table
	return table
}

func (c *compiler) requireInstance(t *Type, s *statement) {
	if r := s.firstSub("require-instance"); r != nil {
		t.MustExist = r.arg == "true"
	}
}

func (c *compiler) compileReference(t *Type, s *statement, derived bool) {
	p := s.firstSub("path")
	switch {
	case derived && p != nil:
		c.addFault(p, "the path cannot be changed")
	case derived && s.file.old && s.firstSub("require-instance") != nil || s.file.old && s.firstSub("require-instance") != nil:
		c.addFault(s, "require-instance of a leafref needs yang-version 1.1")
	case !derived && p == nil:
		c.addFault(s, "a leafref needs a path")
	case p != nil:
		t.Path, t.path, t.local = p.arg, p, true
		if x := c.compileExpression(p); x != nil {
			t.expr = x.expr
		}
	}
	c.requireInstance(t, s)
}

func (c *compiler) compileUnion(t *Type, s *statement, derived bool) {
	members := s.subsWithKeyword("type")
	if derived && len(members) > 0 || !derived && len(members) == 0 {
		c.addFault(s, "a union has its types where it is defined, at least one")
		return
	}
	for _, m := range members {
		mt := c.compileType(m)
		if s.file.old && (mt.Base == Leafref || mt.Base == Empty) {
			c.addFault(m, "a %s in a union needs yang-version 1.1", mt.Base)
		}
		t.Members = append(t.Members, mt)
		t.local = t.local || mt.local
	}
}

// identityName is module:name.
func identityName(def *statement) string {
	return def.file.module.name + ":" + def.arg
}

// collectIdentities finds what is derived from each identity, at any distance.
func (c *compiler) collectIdentities() {
	below := map[string][]*statement{}
	var all []*statement
	for _, f := range c.lib.order {
		for _, body := range f.moduleBodies() {
			for _, def := range body.subsWithKeyword("identity") {
				if !c.isEnabled(def) {
					continue
				}
				all = append(all, def)
				for _, b := range def.subsWithKeyword("base") {
					base := b.findDefinition("identity", b.arg)
					if base == nil {
						c.addFault(b, "there is no identity %q%s", b.arg, c.unknownPrefix(b, b.arg))
						continue
					}
					below[identityName(base)] = append(below[identityName(base)], def)
				}
			}
		}
	}
	for _, def := range all {
		seen := map[string]bool{}
		var visit func(name string)
		visit = func(name string) {
			for _, d := range below[name] {
				if full := identityName(d); !seen[full] {
					seen[full] = true
					visit(full)
				}
			}
		}
		own := identityName(def)
		visit(own)
		if seen[own] {
			c.addFault(def, "the identity %q refers to itself", def.arg)
			delete(seen, own)
		}
		for full := range seen {
			c.derived[own] = append(c.derived[own], full)
		}
	}
}

// defaultText is the value of a default as instances write it: the prefix of an identity becomes its module's name.
func (c *compiler) defaultText(s *statement, t *Type) string {
	prefix, name := splitPrefix(s.arg)
	m := s.moduleOf(prefix)
	if m == nil {
		return s.arg
	}
	for _, one := range t.Final().unionMembers() {
		if one = one.Final(); one.Base == Identityref && one.identities[m.name+":"+name] != "" {
			return m.name + ":" + name
		}
	}
	return s.arg
}
