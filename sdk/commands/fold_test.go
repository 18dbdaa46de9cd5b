package commands

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFold(t *testing.T) {
	for _, c := range []struct {
		cell  string
		width int
		want  []string
	}{
		{"", 5, []string{""}},
		{"short", 5, []string{"short"}},
		{"two words", 5, []string{"two", "words"}},
		{"blank at edge", 5, []string{"blank", "at", "edge"}},
		{"ctl-bier-topomanager-rest", 17, []string{"ctl-bier-topomanager-rest"}},
		{"/var/lib/ctl/plugins", 12, []string{"/var/lib/", "ctl/plugins"}},
		{"unbreakable", 4, []string{"unbreakable"}},
		{"an unbreakable one", 4, []string{"an", "unbreakable", "one"}},
		{"größer als", 6, []string{"größer", "als"}},
	} {
		if got := foldCell(c.cell, c.width); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q in %d: %q, want %q", c.cell, c.width, got, c.want)
		}
	}
}

// A table is never wider than the terminal where folding can help, and says the same.
func TestTableFitsTheTerminal(t *testing.T) {
	tab := Table{Columns: []Column{{Title: "Name", Key: "n"}, {Title: "Calls", Key: "c", Right: true}, {Title: "Description", Key: "d"}}}
	tab.Add("ctl-bier-topomanager-rest", 1234567, "Topology RPCs through RESTCONF, for those who call them")
	tab.Add("a", 1, "")
	for _, width := range []int{200, 80, 60, 40, 30, 24} {
		var out bytes.Buffer
		if err := (&Invocation{Stdout: &out, Width: width}).Emit(tab, nil); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		for _, l := range lines {
			if n := utf8.RuneCountInString(l); n > max(width, 38) { // below that a word is wider than the terminal
				t.Errorf("in %d columns a line of %d: %q", width, n, l)
			}
		}
		joined := strings.Join(strings.FieldsFunc(out.String(), func(r rune) bool { return strings.ContainsRune(" │─┼\n", r) }), "")
		for _, word := range strings.Fields("Topology RPCs through RESTCONF, for those who call them") {
			if !strings.Contains(out.String(), word) {
				t.Errorf("in %d columns %q is cut\n%s", width, word, out.String())
			}
		}
		if !strings.Contains(joined, "1234567") || width >= 80 && len(lines) > 5 {
			t.Errorf("in %d columns\n%s", width, out.String())
		}
	}
	if got, want := tab.formatText(24), "Name         ctl-bier-topomanager-rest\nCalls        1234567\n"; !strings.HasPrefix(got, want) {
		t.Errorf("in 24 columns\n%s", got)
	}
	plainly := strings.NewReplacer("│", "|", "─", "-", "┼", "+")
	if got, want := tab.formatText(0), plainly.Replace(tab.formatText(1000)); got != want {
		t.Errorf("without a terminal\n%s\nin a wide one\n%s", got, want)
	}
}
