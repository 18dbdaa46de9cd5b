package yang

// maxExpansion bounds the statements that one definition may expand to, so that
// groupings that use each other twice over cannot fill the memory.
const maxExpansion = 100_000

// checkCycles refuses groupings that use themselves, and those that grow too large.
func (c *compiler) checkCycles() {
	sizes := map[*statement]int{} // -1 = being visited
	var visit func(def *statement) int
	var expand func(s *statement) int
	expand = func(s *statement) int {
		n := 1
		for _, sub := range s.sub {
			n += expand(sub)
			if sub.keyword == "uses" {
				if def := sub.findDefinition("grouping", sub.arg); def != nil {
					n += visit(def)
				}
			}
			n = min(n, maxExpansion+1)
		}
		return n
	}
	visit = func(def *statement) int {
		switch n := sizes[def]; {
		case n > 0:
			return n
		case n < 0:
			c.addFault(def, "the grouping %q refers to itself", def.arg)
			return 1
		}
		sizes[def] = -1
		n := expand(def)
		if sizes[def] = n; n > maxExpansion {
			c.addFault(
				def,
				"the %s %q expands to more than %d statements",
				def.keyword,
				def.arg,
				maxExpansion,
			)
		}
		return n
	}
	var walk func(s *statement)
	walk = func(s *statement) {
		if s.keyword == "grouping" {
			visit(s)
		}
		for _, sub := range s.sub {
			walk(sub)
		}
	}
	for _, f := range c.lib.order {
		for _, body := range f.moduleBodies() {
			walk(body)
		}
		if n := expand(f.stmt); n > maxExpansion {
			c.addFault(
				f.stmt,
				"the module %q expands to more than %d statements",
				f.name,
				maxExpansion,
			)
		}
	}
}
