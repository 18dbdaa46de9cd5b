package feature

import (
	"strings"
	"testing"
)

// What is not a catalogue is not quoted: the file may be anything.
func TestAnotherFileIsNotQuoted(t *testing.T) {
	for _, text := range []string{"root:$6$SECRET:19000:0:99999:7:::\n", "one SECRET line", "- SECRET\n", "a: SECRET\nb: [SECRET\n", "SECRET: 1\n"} {
		_, ps := ParseRepository("/x", []byte(text))
		if len(ps) != 1 || strings.Contains(ps[0].String(), "SECRET") {
			t.Errorf("%q: %v", text, ps)
		}
	}
}
