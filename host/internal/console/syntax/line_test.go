package syntax

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"ctl.internal/internal/console"
)

func flat(l Line) [][][]string {
	out := [][][]string{}
	for _, p := range l {
		stages := [][]string{}
		for _, s := range p {
			stages = append(stages, s.Texts())
		}
		out = append(out, stages)
	}
	return out
}

func TestParse(t *testing.T) {
	for in, want := range map[string][][][]string{
		"":                               {},
		"  # only a comment":             {},
		"a":                              {{{"a"}}},
		"feature:list -i":                {{{"feature:list", "-i"}}},
		"a b|c d ; e":                    {{{"a", "b"}, {"c", "d"}}, {{"e"}}},
		"a;;b;":                          {{{"a"}}, {{"b"}}},
		`say 'it | is; "so"' x`:          {{{"say", `it | is; "so"`, "x"}}},
		`say "a \"b\" \\ \n"`:            {{{"say", `a "b" \ \n`}}},
		`a\ b c\|d`:                      {{{"a b", "c|d"}}},
		`--name="x y"z`:                  {{{"--name=x yz"}}},
		`''`:                             {{{""}}},
		"a\nb # tail\n\nc":               {{{"a"}}, {{"b"}}, {{"c"}}},
		"a |\n b":                        {{{"a"}, {"b"}}},
		"x#y":                            {{{"x#y"}}},
		`back\`:                          {{{`back\`}}},
		"grep é|wc":                      {{{"grep", "é"}, {"wc"}}},
		"log:set DEBUG org.ctl.aaa\r\nb": {{{"log:set", "DEBUG", "org.ctl.aaa"}}, {{"b"}}},
	} {
		got, err := Parse(in)
		if err != nil {
			t.Errorf("%q: %v", in, err)
		} else if !reflect.DeepEqual(flat(got), want) {
			t.Errorf("%q: got %v, want %v", in, flat(got), want)
		}
	}
}

func TestParseFaults(t *testing.T) {
	for in, want := range map[string]string{
		"| grep x":                  "no command before the | at column 1",
		"a || b":                    "no command before the | at column 4",
		"a |":                       "no command after the last |",
		"a | ; b":                   "no command after the last |",
		"a 'b":                      "the quote ' that begins at column 3 is not closed",
		`é "b`:                      `the quote " that begins at column 3 is not closed`,
		strings.Repeat("a", 65<<10): "longer than 65536 bytes",
	} {
		_, err := Parse(in)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: got %v, want %q", in, err, want)
		}
	}
}

func TestTail(t *testing.T) {
	for _, c := range []struct {
		in    string
		stage []string
		word  string
		start int
		piped bool
	}{
		{"", []string{}, "", 0, false},
		{"fea", []string{}, "fea", 0, false},
		{"feature:info ", []string{"feature:info"}, "", 13, false},
		{"a b; c d", []string{"c"}, "d", 7, false},
		{"a | gr", []string{}, "gr", 4, true},
		{`a "b c`, []string{"a"}, "b c", 2, false},
		{"a | b ; ", []string{}, "", 8, false},
	} {
		p := Tail(c.in)
		if got := p.Stage.Texts(); !reflect.DeepEqual(got, c.stage) || p.Word.Text != c.word || p.Word.Start != c.start || p.Piped != c.piped {
			t.Errorf("%q: got %q %+v piped %v", c.in, got, p.Word, p.Piped)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a 'b' | c; d", `"\"`, "#\n|", "'''"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		Tail(s)
		l, err := Parse(s)
		if err != nil {
			return
		}
		for _, p := range l {
			for _, st := range p {
				again, err := Parse(console.Join(st.Texts()))
				if err != nil || !reflect.DeepEqual(flat(again), [][][]string{{st.Texts()}}) {
					t.Fatalf("%q joined as %q reads back as %v, %v", st.Texts(), console.Join(st.Texts()), again, err)
				}
			}
		}
	})
}

func FuzzWordsJoinedReadBackAsThemselves(f *testing.F) {
	for _, w := range []string{"a b", "", "it's", "#x", `\|;"`, "a\nb"} {
		f.Add("feature:list", w)
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		words := []string{first, second}
		l, err := Parse(console.Join(words))
		if len(first)+len(second) > MaxLine/8 {
			return
		}
		if err != nil || len(l) != 1 || len(l[0]) != 1 || !slices.Equal(l[0][0].Texts(), words) {
			t.Errorf("%q reads as %v, %v", words, l, err)
		}
	})
}
