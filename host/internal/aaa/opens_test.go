package aaa

import "testing"

// A pattern opens what a module denies by default if it names the module or the node.
func TestPatternsThatNameANode(t *testing.T) {
	for pattern, want := range map[string]bool{
		"/**": false, "/rests/**": false, "/rests/data/**": false, "/rests/data/*": false, "/rests/data/other:den/**": false, "/rests/data/denim:den/**": false,
		"/rests/data/den:den/**": true, "/rests/data/den:*/**": true, "/rests/data/den*/**": true, "/rests/*/den:den/shut": true, "/**/shut": true,
		"/rests/data/den:den/l=*/**": true, "policy 1, resource /rests/data/den:den/**, role user": true, "policy 1, resource /**, role user": false,
	} {
		if got := namesNode(pattern, "den", "shut"); got != want {
			t.Errorf("%s: %v", pattern, got)
		}
	}
}
