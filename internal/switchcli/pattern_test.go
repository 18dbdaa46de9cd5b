package switchcli

import "testing"

// The prompt ends an answer also in another mode and behind a wiped page prompt, and
// the same word within a line does not.
func TestPrompts(t *testing.T) {
	p := prompts("sw1#")
	for said, want := range map[string]bool{
		"show vlan\nnothing\nsw1#":      true,
		"done\nsw1(config)# ":           true,
		"done\n                   sw1#": true,
		"the switch sw1#":               false,
		"sw1# show":                     false,
		"sw2#":                          false,
	} {
		if got := p.MatchString(said); got != want {
			t.Errorf("%q: %v, want %v", said, got, want)
		}
	}
}
