package yang

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"ctl.internal/internal/nearest"
)

// The modules whose extensions are annotations.
const (
	schemaModule = "ctl-schema"
	schemaPrefix = "ctl"
	accessModule = "ietf-netconf-acm" // RFC 8341
)

// Annotations are what a module says of a node or an operation with the extensions of ctl-schema.
type Annotations struct {
	Secret    bool // of a node: what the module itself says; Node.Secret is what holds
	NotSecret bool

	ReadOnly   bool // of an operation: it changes nothing
	Repeatable bool // it may be carried out again
	Timeout    time.Duration
	Confirm    string // what is asked before it
	Command    string // its name at the console
	ActsOn     string // module:name of the operation that says what a call of it acts on

	Resource string // of a leaf of an input: the kind of what it names
	Argument int    // its position among the arguments of the command, from 1 on; 0 = it is an option

	Column int // position in the table of its list, from 1 on; 0 = it is no column
	Width  int // of the column; 0 = as wide as its values
	Title  string
	Unit   string
	Format string

	DenyAll   bool // nacm:default-deny-all
	DenyWrite bool // nacm:default-deny-write
}

// extension is what is known of an extension: in which statements it may be, and how its argument is read.
type extension struct {
	in       string
	argument bool
	set      func(a *Annotations, text string) (why string)
}

// The kinds of resources that rights by port are about, as ctl:resource names them.
const (
	KindSwitch   = "switch"
	KindPort     = "port"
	KindPortName = "port-name"
	KindVLAN     = "vlan"
)

const (
	inLeaves     = "leaf leaf-list refine"
	inNodes      = "container list anydata anyxml " + inLeaves
	inOperations = "rpc action"

	// inData are the other statements that define data (RFC 7950 section 3): what they deny, the nodes that come of them deny.
	inData = " choice case uses augment"
)

// formats are the arguments of ctl:format.
var formats = []string{"mac", "address", "bytes", "rate", "age", "percent", "state"}

// extensions are those of ctl-schema, beside annotate.
var extensions = map[string]extension{
	"secret": {
		in:  inNodes,
		set: mark(func(a *Annotations) *bool { return &a.Secret }),
	},
	"not-secret": {
		in:  inLeaves,
		set: mark(func(a *Annotations) *bool { return &a.NotSecret }),
	},
	"read-only": {
		in:  inOperations,
		set: mark(func(a *Annotations) *bool { return &a.ReadOnly }),
	},
	"repeatable": {
		in:  inOperations,
		set: mark(func(a *Annotations) *bool { return &a.Repeatable }),
	},
	"timeout": {
		in:       inOperations,
		argument: true,
		set:      setTimeout,
	},
	"confirm": {
		in:       inOperations,
		argument: true,
		set:      words(func(a *Annotations) *string { return &a.Confirm }),
	},
	"command": {
		in:       inOperations,
		argument: true,
		set:      setCommand,
	},
	"acts-on": {
		in:       inOperations,
		argument: true,
		set:      setActsOn,
	},
	"resource": {
		in:       inLeaves,
		argument: true,
		set:      setResource,
	},
	"argument": {
		in:       inLeaves,
		argument: true,
		set:      setArgument,
	},
	"column": {
		in:       inLeaves,
		argument: true,
		set:      setColumn,
	},
	"title": {
		in:       inNodes + " choice case notification " + inOperations,
		argument: true,
		set:      words(func(a *Annotations) *string { return &a.Title }),
	},
	"unit": {
		in:       inLeaves,
		argument: true,
		set:      words(func(a *Annotations) *string { return &a.Unit }),
	},
	"format": {
		in:       inLeaves,
		argument: true,
		set:      setFormat,
	},
}

// accessExtensions are those of RFC 8341.
var accessExtensions = map[string]extension{
	"default-deny-all": {
		in:  inNodes + inData + " notification " + inOperations,
		set: mark(func(a *Annotations) *bool { return &a.DenyAll }),
	},
	"default-deny-write": {
		in:  inNodes + inData,
		set: mark(func(a *Annotations) *bool { return &a.DenyWrite }),
	},
}

func mark(field func(*Annotations) *bool) func(*Annotations, string) string {
	return func(a *Annotations, _ string) string {
		*field(a) = true
		return ""
	}
}

func words(field func(*Annotations) *string) func(*Annotations, string) string {
	return func(a *Annotations, s string) string {
		if strings.TrimSpace(s) == "" {
			return "it needs a text"
		}
		*field(a) = s
		return ""
	}
}

func setTimeout(a *Annotations, s string) string {
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return "want a time such as 90s or 2m"
	}
	a.Timeout = d
	return ""
}

func setCommand(a *Annotations, s string) string {
	scope, name, scoped := strings.Cut(s, ":")
	if !isIdentifier(scope) || scoped && !isIdentifier(name) {
		return "want the name of a command, name or scope:name, without blanks"
	}
	a.Command = s
	return ""
}

func setActsOn(a *Annotations, s string) string {
	module, name, qualified := strings.Cut(s, ":")
	if !qualified || !isIdentifier(module) || !isIdentifier(name) {
		return "want module:name of the operation that says what a call acts on"
	}
	a.ActsOn = s
	return ""
}

func setResource(a *Annotations, s string) string {
	if !isIdentifier(s) {
		return "want the kind of what the leaf names, such as switch or vlan"
	}
	a.Resource = s
	return ""
}

func setArgument(a *Annotations, s string) string {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return "want the position of the argument, from 1 on"
	}
	a.Argument = n
	return ""
}

func setColumn(a *Annotations, s string) string {
	place, width, fixed := strings.Cut(s, " ")
	n, err := strconv.Atoi(place)
	if err != nil || n < 1 {
		return "want the position of the column, from 1 on, and perhaps its width"
	}
	a.Column = n
	if !fixed {
		return ""
	}
	if a.Width, err = strconv.Atoi(width); err != nil || a.Width < 1 {
		return "want the width of the column behind its position"
	}
	return ""
}

func setFormat(a *Annotations, s string) string {
	if !slices.Contains(formats, s) {
		return "want one of " + strings.Join(formats, ", ") + nearest.Hint(s, formats)
	}
	a.Format = s
	return ""
}

// annotation is the name of the extension of ctl-schema or RFC 8341 that a statement is, empty for any other statement.
func (s *statement) annotation() (module, name string) {
	prefix, name := splitPrefix(s.keyword)
	if prefix == "" {
		return "", ""
	}
	m := s.moduleOf(prefix)
	if m != nil && (m.name == schemaModule || m.name == accessModule) {
		return m.name, name
	}
	return "", ""
}

// known is what is known of the extension; false for one that does not exist, and for annotate.
func known(module, name string) (extension, bool) {
	list := extensions
	if module == accessModule {
		list = accessExtensions
	}
	e, ok := list[name]
	return e, ok
}

// annotates reports whether a statement annotates a node of another module.
func (s *statement) annotates() bool {
	module, name := s.annotation()
	return module == schemaModule && name == "annotate"
}

// checkAnnotations reports annotations that do not exist, are where they mean nothing or have a wrong argument. One that
// were left out in silence would open what it closes.
func (c *compiler) checkAnnotations() {
	for _, f := range c.lib.order {
		for _, body := range f.moduleBodies() {
			c.checkAnnotationsBelow(body)
		}
	}
}

func (c *compiler) checkAnnotationsBelow(s *statement) {
	seen := map[string]int{}
	for _, sub := range s.sub {
		c.checkAnnotationsBelow(sub)
		module, name := sub.annotation()
		if name == "" {
			continue
		}
		e, ok := known(module, name)
		if line := seen[sub.keyword]; ok && line > 0 {
			c.addFault(sub, "%s is there already: line %d", sub.keyword, line)
		}
		seen[sub.keyword] = sub.line
		top := s.keyword == "module" || s.keyword == "submodule"
		switch {
		case ok:
			c.checkAnnotation(sub, e)
		case !sub.annotates():
			if module == schemaModule {
				c.addFault(
					sub,
					"the module %s has no extension %q%s",
					module,
					name,
					nearest.Hint(name, slices.Sorted(maps.Keys(extensions))),
				)
			}
		case !top:
			c.addFault(sub, "%s must be at the top of a module, not in %q", sub.keyword, s.keyword)
		case len(sub.sub) == 0:
			c.addFault(sub, "%s %q has no annotation in it", sub.keyword, sub.arg)
		}
	}
}

func (c *compiler) checkAnnotation(s *statement, e extension) {
	parent := s.parent
	switch {
	case !parent.annotates() && !slices.Contains(strings.Fields(e.in), parent.keyword):
		c.addFault(
			s,
			"%s may be in %s, not in %q",
			s.keyword,
			strings.ReplaceAll(e.in, " ", ", "),
			parent.keyword,
		)
	case e.argument && !s.hasArg:
		c.addFault(s, "%s needs an argument", s.keyword)
	case !e.argument && s.hasArg:
		c.addFault(s, "%s has no argument", s.keyword)
	default:
		if why := e.set(&Annotations{}, s.arg); why != "" {
			c.addFault(s, "%s %q: %s", s.keyword, s.arg, why)
		}
	}
}

// annotate adds the annotations that are in a statement to those of a node or an operation, nil while it has none.
func annotate(have *Annotations, s *statement) *Annotations {
	for _, sub := range s.sub {
		module, name := sub.annotation()
		e, ok := known(module, name)
		if name == "" || !ok {
			continue
		}
		if have == nil {
			have = &Annotations{}
		}
		e.set(have, sub.arg) // checkAnnotations has refused a wrong one
	}
	return have
}

// denyAs denies of n by default what is denied of the choice, case, uses or augment that it comes of.
func (n *Node) denyAs(a *Annotations) {
	if a == nil || !a.DenyAll && !a.DenyWrite {
		return
	}
	own := Annotations{}
	if n.Annotations != nil {
		own = *n.Annotations
	}
	own.DenyAll = own.DenyAll || a.DenyAll
	own.DenyWrite = own.DenyWrite || a.DenyWrite
	n.Annotations = &own
}

// annotateOthers takes the annotations that modules have of nodes and operations of other modules.
func (c *compiler) annotateOthers() {
	for _, f := range c.lib.order {
		for _, body := range f.moduleBodies() {
			for _, s := range body.sub {
				if s.annotates() {
					c.annotateOther(s)
				}
			}
		}
	}
}

func (c *compiler) annotateOther(s *statement) {
	n, r, why := c.annotated(s)
	if why != "" {
		c.addFault(s, "%s %q: %s", s.keyword, s.arg, why)
		return
	}
	what := "rpc"
	if n != nil {
		what = n.Kind.String()
	}
	for _, sub := range s.sub {
		module, name := sub.annotation()
		e, ok := known(module, name)
		if ok && !slices.Contains(strings.Fields(e.in), what) {
			c.addFault(
				sub,
				"%s may be of %s, and %q is a %s",
				sub.keyword,
				strings.ReplaceAll(e.in, " ", ", "),
				s.arg,
				what,
			)
		}
	}
	if r != nil {
		r.Annotations = *annotate(&r.Annotations, s)
		return
	}
	// What a grouping gives to several nodes is said of one of them: the annotations are copied.
	have := Annotations{}
	if n.Annotations != nil {
		have = *n.Annotations
	}
	n.Annotations = annotate(&have, s)
}

// annotated finds the node or operation that an annotation of another module is of.
func (c *compiler) annotated(s *statement) (n *Node, r *RPC, why string) {
	path, absolute := strings.CutPrefix(s.arg, "/")
	if !absolute {
		return nil, nil, "a target begins with a slash"
	}
	var at *Node
	for step := range strings.SplitSeq(path, "/") {
		prefix, name := splitPrefix(strings.TrimSpace(step))
		f := s.moduleOf(prefix)
		if f == nil {
			return nil, nil, fmt.Sprintf("no import has the prefix %q", prefix)
		}
		if at == nil {
			m := c.set.byName[f.name]
			at = &Node{
				Kind:          Root,
				Children:      m.Data,
				Notifications: m.Notifications,
				Actions:       m.RPCs,
			}
		}
		n, r = at.schemaChild(f.name, name), nil
		if n == nil {
			return nil, nil, fmt.Sprintf(
				"%q is not there%s",
				step,
				nearest.Hint(name, at.schemaNames()),
			)
		}
		if n.Kind == Case && n.Parent == nil { // an operation as a node
			i := slices.IndexFunc(at.Actions, func(o *RPC) bool {
				return o.Name == name && o.Module == f.name
			})
			r = at.Actions[i]
		}
		at = n
	}
	if r != nil {
		return nil, r, ""
	}
	return n, nil, ""
}

// schemaNames are the names of what schemaChild finds.
func (n *Node) schemaNames() (out []string) {
	for _, m := range slices.Concat(n.Children, n.Notifications) {
		out = append(out, m.Name)
	}
	for _, r := range n.Actions {
		out = append(out, r.Name)
	}
	return out
}

// noteMarked notes which modules have annotations of ctl-schema in their own text.
func (c *compiler) noteMarked() {
	c.marked = map[string]bool{}
	var has func(s *statement) bool
	has = func(s *statement) bool {
		module, name := s.annotation()
		return module == schemaModule && name != "annotate" && !s.parent.annotates() ||
			slices.ContainsFunc(s.sub, has)
	}
	for _, f := range c.lib.order {
		if slices.ContainsFunc(f.moduleBodies(), has) {
			c.marked[f.name] = true
		}
	}
}

// Operations are what the texts of modules say of rpcs, by module:rpc, in these or by ctl:annotate. It is asked before the
// modules that they import are at hand. An rpc without annotations is not in it.
func Operations(texts map[string][]byte) (map[string]Annotations, error) {
	out := map[string]Annotations{}
	for _, path := range slices.Sorted(maps.Keys(texts)) {
		f, err := scanFile("", path, texts[path])
		if err != nil {
			return nil, err
		}
		f.importNames()
		for _, s := range f.stmt.sub {
			name := s.operation(f.name)
			if name == "" {
				continue
			}
			have := out[name]
			if a := annotate(&have, s); *a != (Annotations{}) {
				out[name] = *a
			}
		}
	}
	return out, nil
}

// CommandName is the name of a command, scope:name, as ctl:command says it in a module: without a scope it has that of the
// module's name.
func CommandName(module, command string) string {
	if strings.Contains(command, ":") {
		return command
	}
	return module + ":" + command
}

// operation is the module:rpc that a statement at the top of a module is, or annotates; empty if it is of anything else.
func (s *statement) operation(module string) string {
	if s.keyword == "rpc" {
		return module + ":" + s.arg
	}
	path, absolute := strings.CutPrefix(s.arg, "/")
	if !absolute || !s.annotates() || strings.Contains(path, "/") {
		return ""
	}
	prefix, name := splitPrefix(path)
	m := s.moduleOf(prefix)
	if m == nil {
		return ""
	}
	return m.name + ":" + name
}

// importNames gives each prefix of a file a module that has its name alone.
func (f *file) importNames() {
	f.module, f.prefixes = f, map[string]*file{f.ownPrefix(): f}
	for _, i := range f.imports {
		f.prefixes[i.prefix] = &file{name: i.module}
	}
}
