package yang

import (
	"regexp"
	"strings"

	"ctl.internal/sdk/fault"
)

// allowed is which sub-statements a statement may have, and how many: ! exactly one, ? at most one, * any number, + at
// least one (RFC 7950 sections 7 and 9, RFC 6020 for modules of version 1).
type allowed map[string]byte

const (
	documented = "description? reference? "
	stated     = "if-feature* status? " + documented
	dataNodes  = "container* leaf* leaf-list* list* choice* anydata* anyxml* uses* "
	body       = "extension* feature* identity* typedef* grouping* augment* rpc* notification* deviation* " + dataNodes
	linkage    = "import* include* organization? contact? revision* " + documented
	listing    = "min-elements? max-elements? ordered-by? must* when? config? "
	messages   = "error-message? error-app-tag? " + documented
)

// grammar is built once from what follows.
var grammar = func() map[string]allowed {
	out := map[string]allowed{}
	for keyword, list := range map[string]string{
		"module":       "yang-version? namespace! prefix! " + linkage + body,
		"submodule":    "yang-version? belongs-to! " + linkage + body,
		"belongs-to":   "prefix!",
		"import":       "prefix! revision-date? " + documented,
		"include":      "revision-date? " + documented,
		"revision":     documented,
		"extension":    "argument? status? " + documented,
		"argument":     "yin-element?",
		"feature":      stated,
		"identity":     "base* " + stated,
		"typedef":      "type! units? default? status? " + documented,
		"grouping":     "typedef* grouping* action* notification* status? " + documented + dataNodes,
		"container":    "must* when? presence? config? typedef* grouping* action* notification* " + stated + dataNodes,
		"leaf":         "type! when? units? must* default? config? mandatory? " + stated,
		"leaf-list":    "type! units? default* " + listing + stated,
		"list":         "key? unique* typedef* grouping* action* notification* " + listing + stated + dataNodes,
		"choice":       "case* container* leaf* leaf-list* list* choice* anydata* anyxml* when? default? config? mandatory? " + stated,
		"case":         "when? " + stated + dataNodes,
		"anydata":      "when? must* config? mandatory? " + stated,
		"anyxml":       "when? must* config? mandatory? " + stated,
		"uses":         "when? refine* augment* " + stated,
		"refine":       "must* presence? default* config? mandatory? min-elements? max-elements? if-feature* " + documented,
		"augment":      "when? case* action* notification* " + stated + dataNodes,
		"rpc":          "typedef* grouping* input? output? " + stated,
		"action":       "typedef* grouping* input? output? " + stated,
		"input":        "must* typedef* grouping* " + dataNodes,
		"output":       "must* typedef* grouping* " + dataNodes,
		"notification": "must* typedef* grouping* " + stated + dataNodes,
		"deviation":    "deviate+ " + documented,
		"deviate":      "units? must* unique* default* config? mandatory? min-elements? max-elements? type?",
		"type":         "range? length? pattern* enum* bit* fraction-digits? path? require-instance? base* type*",
		"range":        messages,
		"length":       messages,
		"must":         messages,
		"pattern":      "modifier? " + messages,
		"enum":         "value? " + stated,
		"bit":          "position? " + stated,
		"when":         documented,
	} {
		a := allowed{}
		for part := range strings.FieldsSeq(list) {
			a[part[:len(part)-1]] = part[len(part)-1]
		}
		out[keyword] = a
	}
	for _, keyword := range strings.Fields("yang-version namespace prefix organization contact description reference units default config mandatory presence key " +
		"unique min-elements max-elements ordered-by status base revision-date yin-element value position fraction-digits path require-instance modifier " +
		"error-message error-app-tag if-feature") {
		out[keyword] = nil
	}
	return out
}()

// since11 are the statements that modules of version 1 do not know.
var since11 = map[string]bool{
	"action":   true,
	"anydata":  true,
	"modifier": true,
}

// forms are what the arguments of some statements must be.
var forms = map[string]*regexp.Regexp{
	"yang-version":     regexp.MustCompile(`^(1|1\.1)$`),
	"config":           regexp.MustCompile(`^(true|false)$`),
	"mandatory":        regexp.MustCompile(`^(true|false)$`),
	"require-instance": regexp.MustCompile(`^(true|false)$`),
	"yin-element":      regexp.MustCompile(`^(true|false)$`),
	"ordered-by":       regexp.MustCompile(`^(user|system)$`),
	"status":           regexp.MustCompile(`^(current|deprecated|obsolete)$`),
	"min-elements":     regexp.MustCompile(`^(0|[1-9][0-9]*)$`),
	"max-elements":     regexp.MustCompile(`^(unbounded|[1-9][0-9]*)$`),
	"revision":         regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`),
	"revision-date":    regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`),
	"modifier":         regexp.MustCompile(`^invert-match$`),
	"fraction-digits":  regexp.MustCompile(`^([1-9]|1[0-8])$`),
	"deviate":          regexp.MustCompile(`^(not-supported|add|replace|delete)$`),
	"position":         regexp.MustCompile(`^(0|[1-9][0-9]*)$`),
	"value":            regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`),
}

// checkGrammar reports what of a module's text is not YANG, at any depth.
func (f *file) checkGrammar() fault.List {
	var l fault.List
	var walk func(s *statement, own allowed)
	walk = func(s *statement, own allowed) {
		seen := map[string]int{}
		for _, c := range s.sub {
			if strings.Contains(c.keyword, ":") {
				continue // of an extension, which says itself what it has
			}
			many, ok := own[c.keyword]
			inner, known := grammar[c.keyword]
			if !known {
				l = append(l, faultAt(c, "there is no statement %q", c.keyword))
				continue
			}
			switch seen[c.keyword]++; {
			case !ok:
				l = append(l, faultAt(c, "%q is not allowed in %q", c.keyword, s.keyword))
			case f.old && since11[c.keyword]:
				l = append(l, faultAt(c, "%q needs yang-version 1.1", c.keyword))
			case seen[c.keyword] == 2 && (many == '!' || many == '?'):
				l = append(l, faultAt(c, "%q may have one %q only", s.keyword, c.keyword))
			}
			if why := c.wrongArgument(); why != "" {
				l = append(l, faultAt(c, "%s", why))
			}
			walk(c, inner)
		}
		for keyword, many := range own {
			if (many == '!' || many == '+') && seen[keyword] == 0 {
				l = append(l, faultAt(s, "%q %q has no %q", s.keyword, s.arg, keyword))
			}
		}
	}
	walk(f.stmt, grammar[f.stmt.keyword])
	return l
}

// withoutArgument are the two statements that have none.
func withoutArgument(keyword string) bool {
	return keyword == "input" || keyword == "output"
}

var identified = regexp.MustCompile(`^(module|submodule|import|include|belongs-to|prefix|extension|argument|feature|identity|typedef|grouping|container|leaf|leaf-list|list|choice|case|anydata|anyxml|rpc|action|notification|bit)$`)

// wrongArgument says what is wrong with the argument.
func (s *statement) wrongArgument() string {
	switch {
	case withoutArgument(s.keyword) != !s.hasArg:
		if s.hasArg {
			return "\"" + s.keyword + "\" has no argument"
		}
		return "\"" + s.keyword + "\" needs an argument"
	case identified.MatchString(s.keyword) && !isIdentifier(s.arg):
		return "\"" + s.arg + "\" is not an identifier"
	case forms[s.keyword] != nil && !forms[s.keyword].MatchString(s.arg):
		return "\"" + s.arg + "\" is not allowed as " + s.keyword
	case s.keyword == "enum" && (s.arg == "" || strings.TrimSpace(s.arg) != s.arg):
		return "an enum has a name without blanks at its ends"
	}
	return ""
}
