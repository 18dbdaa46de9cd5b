package yang

import (
	"strings"

	"ctl.internal/sdk/fault"
)

// yinArguments are the names of the arguments of statements in YIN (RFC 7950 section 13.1); those
// with a trailing slash are written as elements.
var yinArguments = map[string]string{
	"action":           "name",
	"anydata":          "name",
	"anyxml":           "name",
	"argument":         "name",
	"augment":          "target-node",
	"base":             "name",
	"belongs-to":       "module",
	"bit":              "name",
	"case":             "name",
	"choice":           "name",
	"config":           "value",
	"contact":          "text/",
	"container":        "name",
	"default":          "value",
	"description":      "text/",
	"deviate":          "value",
	"deviation":        "target-node",
	"enum":             "name",
	"error-app-tag":    "value",
	"error-message":    "value/",
	"extension":        "name",
	"feature":          "name",
	"fraction-digits":  "value",
	"grouping":         "name",
	"identity":         "name",
	"if-feature":       "name",
	"import":           "module",
	"include":          "module",
	"key":              "value",
	"leaf":             "name",
	"leaf-list":        "name",
	"length":           "value",
	"list":             "name",
	"mandatory":        "value",
	"max-elements":     "value",
	"min-elements":     "value",
	"modifier":         "value",
	"module":           "name",
	"must":             "condition",
	"namespace":        "uri",
	"notification":     "name",
	"ordered-by":       "value",
	"organization":     "text/",
	"path":             "value",
	"pattern":          "value",
	"position":         "value",
	"prefix":           "value",
	"presence":         "value",
	"range":            "value",
	"reference":        "text/",
	"refine":           "target-node",
	"require-instance": "value",
	"revision":         "date",
	"revision-date":    "date",
	"rpc":              "name",
	"status":           "value",
	"submodule":        "name",
	"type":             "name",
	"typedef":          "name",
	"unique":           "tag",
	"units":            "name",
	"uses":             "name",
	"value":            "value",
	"when":             "condition",
	"yang-version":     "value",
	"yin-element":      "value",
}

const yinNamespace = "urn:ietf:params:xml:ns:yang:yin:1"

// Revision returns the module of a name and revision, the newest for an empty revision; nil if
// there is none.
func (s *Set) Revision(name, revision string) *Module {
	if revision == "" {
		return s.byName[name]
	}
	for _, m := range s.modules {
		if m.Name == name && m.Revision == revision {
			return m
		}
	}
	return nil
}

// reparseStatements parses the text of a module again.
func (m *Module) reparseStatements() (*statement, error) {
	return parseStatements(&file{
		path: m.Path,
		text: m.Text,
		old:  !versionOf11(m.Text),
	})
}

// YIN returns the text of a module of the set in the XML form of YANG.
func (s *Set) YIN(m *Module) ([]byte, error) {
	top, err := m.reparseStatements()
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "the module %s cannot be parsed again", m.Name)
	}
	w := yinWriter{
		imports:    map[string]*Module{m.Prefix: m},
		extensions: map[*Module]map[string]string{},
	}
	buf := append([]byte(nil), `<?xml version="1.0" encoding="UTF-8"?>`+"\n"+`<module name="`...)
	buf = append(appendXMLText(buf, m.Name), `" xmlns="`+yinNamespace+`"`...)
	declare := func(prefix, uri string) {
		buf = append(append(append(buf, " xmlns:"...), prefix...), `="`...)
		buf = append(appendXMLText(buf, uri), '"')
	}
	declare(m.Prefix, m.Namespace)
	for _, c := range top.sub {
		if c.keyword != "import" {
			continue
		}
		if o := s.Revision(c.arg, firstArgument(c, "revision-date")); o != nil {
			prefix := firstArgument(c, "prefix")
			w.imports[prefix] = o
			declare(prefix, o.Namespace)
		}
	}
	w.buf = append(buf, ">\n"...)
	for _, c := range top.sub {
		w.writeStatement(c, "  ")
	}
	return append(w.buf, "</module>\n"...), nil
}

type yinWriter struct {
	buf        []byte
	imports    map[string]*Module            // by prefix
	extensions map[*Module]map[string]string // name → argument as in yinArguments
}

func (w *yinWriter) writeStatement(s *statement, indent string) {
	name := yinArguments[s.keyword]
	if prefix, ext, ok := strings.Cut(s.keyword, ":"); ok {
		name = w.extensionArgument(prefix, ext)
	}
	w.buf = append(append(append(w.buf, indent...), '<'), s.keyword...)
	name, element := strings.CutSuffix(name, "/")
	sub := s.sub
	if s.hasArg && name != "" && !element {
		w.buf = append(append(append(w.buf, ' '), name...), `="`...)
		escaped := string(appendXMLText(nil, s.arg)) // a line feed of an attribute would be read as a blank
		w.buf = append(
			append(w.buf, strings.NewReplacer("\n", "&#10;", "\t", "&#9;").Replace(escaped)...),
			'"',
		)
	}
	if len(sub) == 0 && !element {
		w.buf = append(w.buf, "/>\n"...)
		return
	}
	w.buf = append(w.buf, ">\n"...)
	if element && s.hasArg {
		prefix := ""
		if p, _, ok := strings.Cut(s.keyword, ":"); ok {
			prefix = p + ":"
		}
		w.buf = append(w.buf, indent+"  <"+prefix+name+">"...)
		w.buf = append(appendXMLText(w.buf, s.arg), "</"+prefix+name+">\n"...)
	}
	for _, c := range sub {
		w.writeStatement(c, indent+"  ")
	}
	w.buf = append(w.buf, indent+"</"+s.keyword+">\n"...)
}

// extensionArgument returns how the argument of an extension's statement is written.
func (w *yinWriter) extensionArgument(prefix, name string) string {
	m := w.imports[prefix]
	if m == nil {
		return "name"
	}
	known := w.extensions[m]
	if known == nil {
		known = map[string]string{}
		w.extensions[m] = known
		top, err := m.reparseStatements()
		if err != nil {
			return ""
		}
		for _, e := range top.sub {
			for _, a := range e.sub {
				if e.keyword != "extension" || a.keyword != "argument" {
					continue
				}
				known[e.arg] = a.arg
				if firstArgument(a, "yin-element") == "true" {
					known[e.arg] += "/"
				}
			}
		}
	}
	return known[name]
}
