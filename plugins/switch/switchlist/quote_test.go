package switchlist

import (
	"strings"
	"testing"
)

// What is not a switch list is not quoted: the file may be anything.
func TestAnotherFileIsNotQuoted(t *testing.T) {
	for _, text := range []string{"root:$6$SECRET:19000:0:99999:7:::\ndaemon:SECRET,SECRET,SECRET\n", "SECRET,SECRET\nSECRET,SECRET\n"} {
		list, ps := ParseWith(Options{}, "/x", []byte(text))
		if len(list) > 0 || len(ps) != 1 || strings.Contains(ps[0].String(), "SECRET") {
			t.Errorf("%q: %v %v", text, list, ps)
		}
	}
}
