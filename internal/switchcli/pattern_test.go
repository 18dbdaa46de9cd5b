package switchcli

import "testing"

// The prompt ends an answer also in another mode and after a wiped page prompt, and
// the same word within a line does not.
func TestPrompts(t *testing.T) {
	for seen, cases := range map[string]map[string]bool{
		"sw1#": {
			"show vlan\nnothing\nsw1#":      true,
			"done\nsw1(config)# ":           true,
			"done\n                   sw1#": true,
			"the switch sw1#":               false,
			"sw1# show":                     false,
			"sw2#":                          false,
		},
		"zorg>> ": {"done\nzorg>> ": true, "done\nzorg(acl)>> ": true, "done\nzorg>> show": false},
		"<zorg>": {
			"done\n<zorg>": true, "done\n[zorg]": true, "done\n[zorg-acl-basic-2000] ": true, "done\n[*zorg]": true, "done\n[~zorg-Vlanif1]": true,
			"[zorg] done": false, "done\n[other]": false, "see <zorg>": false,
		},
		"[zorg] ": {"done\n[zorg]": true, "done\n[zorg-acl-1]": true, "done\n<zorg>": true, "zorg#": false},
	} {
		p := compilePrompts(seen)
		for said, want := range cases {
			if got := p.MatchString(said); got != want {
				t.Errorf("prompt %q, %q: %v, want %v", seen, said, got, want)
			}
		}
	}
	for said, want := range map[string]bool{"zorg>> ": true, "<zorg>": true, "sw1#": true, "no prompt": false} {
		if got := anyPrompt().MatchString(said); got != want {
			t.Errorf("any prompt, %q: %v", said, got)
		}
	}
}
