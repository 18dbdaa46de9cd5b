package nearest

import (
	"strings"
	"testing"
)

func TestName(t *testing.T) {
	known := []string{"ctl-aaa-sec", "ctl-aaa-cli", "ctl-bier-all", "http", "https", "ü"}
	for _, c := range []struct{ have, want string }{
		{"ctl-aaa-sce", "ctl-aaa-sec"}, // swapped
		{"ctl-aa-cli", "ctl-aaa-cli"},  // missing
		{"CTL-BIER-ALL", "ctl-bier-all"},
		{"htp", "http"},
		{"httpss", "https"},
		{"https", "https"},
		{"o", "ü"},                   // one rune, one edit
		{"ctl-bier", "ctl-bier-all"}, // a part of one
		{"AAA-S", "ctl-aaa-sec"},
		{"aaa", ""}, // too short to mean one
		{"completely-different", ""},
		{"", ""},
		{strings.Repeat("x", 1000), ""},
	} {
		got, ok := Name(c.have, known)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("Name(%q) = %q, %v; want %q", c.have, got, ok, c.want)
		}
	}
	if got := Hint("htp", known); got != ` (did you mean "http"?)` {
		t.Errorf("Hint = %s", got)
	}
	if got := Hint("zzzzzz", known); got != "" {
		t.Errorf("Hint = %s, want nothing", got)
	}
}
