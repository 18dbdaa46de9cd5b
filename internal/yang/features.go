package yang

import "strings"

// isEnabled reports whether all if-feature statements of a statement hold.
func (c *compiler) isEnabled(s *statement) bool {
	for _, f := range s.sub {
		if f.keyword == "if-feature" && !c.holdsIfFeature(f) {
			return false
		}
	}
	return true
}

// isFeatureSupported reports whether a feature is: all are whose own conditions hold.
func (c *compiler) isFeatureSupported(def *statement) bool {
	if v, ok := c.features[def]; ok {
		return v
	}
	if c.active[def] {
		c.addFault(def, "the feature %q refers to itself", def.arg)
		return false
	}
	c.active[def] = true
	defer delete(c.active, def)
	c.features[def] = c.isEnabled(def)
	return c.features[def]
}

// holdsIfFeature evaluates the expression of an if-feature (RFC 7950 section 7.20.2).
func (c *compiler) holdsIfFeature(s *statement) bool {
	text := strings.NewReplacer("(", " ( ", ")", " ) ").Replace(s.arg)
	e := featureExpression{
		c:     c,
		stmt:  s,
		words: strings.Fields(text),
	}
	if len(e.words) != 1 && s.file.old {
		c.addFault(s, "an expression in if-feature needs yang-version 1.1")
		return false
	}
	v := e.evalOr()
	if !e.wrong && e.pos == len(e.words) {
		return v
	}
	c.addFault(s, "%q is no expression of features", s.arg)
	return false
}

type featureExpression struct {
	c     *compiler
	stmt  *statement
	words []string
	pos   int
	wrong bool
}

func (e *featureExpression) takeWord(word string) bool {
	if e.pos < len(e.words) && e.words[e.pos] == word {
		e.pos++
		return true
	}
	return false
}

func (e *featureExpression) evalOr() bool {
	v := e.evalAnd()
	for e.takeWord("or") {
		v = e.evalAnd() || v
	}
	return v
}

func (e *featureExpression) evalAnd() bool {
	v := e.evalFactor()
	for e.takeWord("and") {
		v = e.evalFactor() && v
	}
	return v
}

func (e *featureExpression) evalFactor() bool {
	switch {
	case e.wrong || e.pos == len(e.words) || e.pos > 2*maxNesting:
		e.wrong = true
		return false
	case e.takeWord("not"):
		return !e.evalFactor()
	case e.takeWord("("):
		v := e.evalOr()
		e.wrong = e.wrong || !e.takeWord(")")
		return v
	}
	name := e.words[e.pos]
	e.pos++
	def := e.stmt.findDefinition("feature", name)
	if def == nil {
		prefix, local := splitPrefix(name)
		if !isIdentifier(local) || strings.Contains(name, ":") && !isIdentifier(prefix) {
			e.wrong = true
			return false
		}
		e.c.addFault(e.stmt, "there is no feature %q%s", name, e.c.unknownPrefix(e.stmt, name))
		return false
	}
	return e.c.isFeatureSupported(def)
}
