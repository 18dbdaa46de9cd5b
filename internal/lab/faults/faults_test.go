package faults

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ in, out, err string }{
		{"", "none", ""},
		{"none", "none", ""},
		{"silent", "silent", ""},
		{" delay=1500ms, loss=20", "loss=20,delay=1.5s", ""},
		{"missing=1.0.8802+.1.3.6.1.2.1.17,toobig=3", "toobig=3,missing=1.0.8802+1.3.6.1.2.1.17", ""},
		{"status=genErr,setstatus=commitFailed,setignore,setmute", "status=genErr,setstatus=commitFailed,setignore,setmute", ""},
		{"duplicate,wrongid,loop,wrongtype,truncate,garbage,huge,nobulk", "duplicate,wrongid,loop,wrongtype,truncate,garbage,huge,nobulk", ""},
		{"loop,back,within=1.3.6.1.2.1.2", "loop,back,within=1.3.6.1.2.1.2", ""},
		{"loss=101", "", "from 0 to 100"},
		{"loss", "", "loss=…"},
		{"silent=1", "", "only"},
		{"sillent", "", "unknown"},
		{"delay=soon", "", "250ms"},
		{"missing=1.x", "", "arc 2"},
		{"status=fine", "", "RFC 3416"},
	} {
		s, err := Parse(c.in)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("Parse(%q): error %v, want one with %q", c.in, err, c.err)
			}
			continue
		}
		if err != nil || s.String() != c.out {
			t.Errorf("Parse(%q) = %s, %v, want %s", c.in, s, err, c.out)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("loss=20,delay=100ms,missing=1.0.8802+1.3.6")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(s.String())
		if err != nil || again.String() != s.String() {
			t.Errorf("%q reads as %s, which reads as %s, %v", text, s, again, err)
		}
	})
}
