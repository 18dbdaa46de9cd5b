package sshserver

import "testing"

func TestSearchInTheHistory(t *testing.T) {
	lines := []string{"feature:list -i", "plugin:list", "switch:PrintDB", "plugin:list"}
	for _, c := range []struct {
		name, typed, keys string
		prompt, line      string
		on                bool
	}{
		{"nothing sought yet", "", "\x12", "(reverse-i-search) : ", "", true},
		{"what was typed is sought", "list", "\x12", "(reverse-i-search) list: ", "plugin:list", true},
		{"each letter narrows", "", "\x12Pr", "(reverse-i-search) Pr: ", "switch:PrintDB", true},
		{"an older one, which differs", "", "\x12list\x12", "(reverse-i-search) list: ", "feature:list -i", true},
		{"none: the last one stays", "", "\x12Prx", "(failed reverse-i-search) Prx: ", "switch:PrintDB", true},
		{"a letter less", "", "\x12Prx\x1f", "(reverse-i-search) Pr: ", "switch:PrintDB", true},
		{"less than nothing", "", "\x12\x1f", "(reverse-i-search) : ", "", true},
		{"given up", "keep", "\x12Pr\x07", "", "keep", false},
		{"taken", "", "\x12Pr\x1e", "", "switch:PrintDB", false},
		{"from the newest again", "", "\x12list\x12\x1f", "(reverse-i-search) lis: ", "plugin:list", true},
	} {
		var s search
		for _, k := range c.keys {
			s.handleKey(lines, c.typed, k)
		}
		if s.on != c.on || s.line != c.line || s.on && s.prompt() != c.prompt || s.pos() > len(s.line) {
			t.Errorf("%s: %q %q %v", c.name, s.prompt(), s.line, s.on)
		}
	}
}

// What the editor would act on itself ends the search first; nothing typed is lost.
func TestKeysOfTheSearch(t *testing.T) {
	k := newKeyboard(func() {}, func() {})
	for _, c := range []byte("ab\x12cd\x7f\r") {
		k.pushKey(c)
	}
	read := func() string {
		p := make([]byte, 16)
		n, err := k.Read(p)
		if err != nil {
			t.Fatal(err)
		}
		return string(p[:n])
	}
	if got := read(); got != "ab\x12" {
		t.Fatalf("%q: what follows Ctrl-R is for the search", got)
	}
	k.setSearching(true)
	for _, want := range []string{"c", "d", "\x1f", "\x1e", "\r"} {
		if got := read(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
