package yang

import "strings"

// enabled reports whether all if-feature statements of a statement hold.
func (c *compiler) enabled(s *statement) bool {
	for _, f := range s.sub {
		if f.keyword == "if-feature" && !c.holds(f) {
			return false
		}
	}
	return true
}

// supported reports whether a feature is: all are whose own conditions hold.
func (c *compiler) supported(def *statement) bool {
	if v, ok := c.features[def]; ok {
		return v
	}
	if c.active[def] {
		c.fault(def, "the feature %q refers to itself", def.arg)
		return false
	}
	c.active[def] = true
	defer delete(c.active, def)
	c.features[def] = c.enabled(def)
	return c.features[def]
}

// holds evaluates the expression of an if-feature (RFC 7950 section 7.20.2).
func (c *compiler) holds(s *statement) bool {
	text := strings.NewReplacer("(", " ( ", ")", " ) ").Replace(s.arg)
	e := featureExpression{c: c, stmt: s, words: strings.Fields(text)}
	if len(e.words) != 1 && s.file.old {
		c.fault(s, "an expression in if-feature needs yang-version 1.1")
		return false
	}
	v := e.or()
	if !e.wrong && e.pos == len(e.words) {
		return v
	}
	c.fault(s, "%q is no expression of features", s.arg)
	return false
}

type featureExpression struct {
	c     *compiler
	stmt  *statement
	words []string
	pos   int
	wrong bool
}

func (e *featureExpression) take(word string) bool {
	if e.pos < len(e.words) && e.words[e.pos] == word {
		e.pos++
		return true
	}
	return false
}

func (e *featureExpression) or() bool {
	v := e.and()
	for e.take("or") {
		v = e.and() || v
	}
	return v
}

func (e *featureExpression) and() bool {
	v := e.factor()
	for e.take("and") {
		v = e.factor() && v
	}
	return v
}

func (e *featureExpression) factor() bool {
	switch {
	case e.wrong || e.pos == len(e.words) || e.pos > 2*maxNesting:
		e.wrong = true
		return false
	case e.take("not"):
		return !e.factor()
	case e.take("("):
		v := e.or()
		e.wrong = e.wrong || !e.take(")")
		return v
	}
	name := e.words[e.pos]
	e.pos++
	def := e.stmt.find("feature", name)
	if def == nil {
		if prefix, local := prefixed(name); !isIdentifier(local) || strings.Contains(name, ":") && !isIdentifier(prefix) {
			e.wrong = true
			return false
		}
		e.c.fault(e.stmt, "there is no feature %q%s", name, e.c.unknownPrefix(e.stmt, name))
		return false
	}
	return e.c.supported(def)
}
