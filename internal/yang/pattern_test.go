package yang

import "testing"

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		xsd string
		yes []string
		no  []string
	}{
		{`a|b`, []string{"a", "b"}, []string{"ab", "xa", "bx", ""}},
		{`^a$`, []string{"^a$"}, []string{"a"}},
		{`a.c`, []string{"abc", "a c"}, []string{"a\nc", "ac"}},
		{`\d+`, []string{"12", "٣"}, []string{"a", ""}},
		{`\i\c*`, []string{"a-1", "_x"}, []string{"1a", "-"}},
		{`[\c]+`, []string{"a-1"}, []string{" "}},
		{`\S+\s\W`, []string{"ab !"}, []string{"ab c"}},
		{`[a\-z]+`, []string{"a-z"}, []string{"m"}},
		{`[^\]]+`, []string{"abc"}, []string{"a]"}},
		{`\p{Lu}\P{Lu}`, []string{"Aa"}, []string{"AA"}},
		{`\.\*\{\}\(\)\[\]\|\\\?\+\^\$`, []string{`.*{}()[]|\?+^$`}, []string{"x"}},
		{`a{2,3}`, []string{"aa", "aaa"}, []string{"a", "aaaa"}},
		{`[a-z-[aeiou]]+`, []string{"xyz"}, []string{"axe", "1"}},
		{`[^a-c-[x-z]]`, []string{"d", "1"}, []string{"a", "y"}},
		{`[\D-[x]]`, []string{"a"}, []string{"1", "x"}},
		{`\p{IsBasicLatin}+\P{IsBasicLatin}`, []string{"abcé"}, []string{"éa", "ab"}},
		{`[\p{Lu}\p{IsGreek}]`, []string{"A", "α"}, []string{"a"}},
		{`\t\n\r`, []string{"\t\n\r"}, []string{"tnr"}},
	} {
		re, err := compilePattern(c.xsd)
		if err != nil {
			t.Errorf("%s: %v", c.xsd, err)
			continue
		}
		for _, s := range c.yes {
			if !re.MatchString(s) {
				t.Errorf("%s must match %q", c.xsd, s)
			}
		}
		for _, s := range c.no {
			if re.MatchString(s) {
				t.Errorf("%s must not match %q", c.xsd, s)
			}
		}
	}
	for _, bad := range []string{`[a-z-[aeiou]`, `\p{IsNowhere}`, `[a-[b]c]`, `[z-a-[b]]`, `a\`, `(?i)a`, `\q`, `(`, `\p{Lu`, `a{1001}`} {
		if _, err := compilePattern(bad); err == nil {
			t.Errorf("%s must be refused", bad)
		}
	}
}
