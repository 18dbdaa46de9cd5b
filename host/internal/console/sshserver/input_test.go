package sshserver

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"ctl.internal/host/internal/console/syntax"
)

func TestInput(t *testing.T) {
	for _, r := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.OneByteReader, iotest.DataErrReader} {
		in := newInput(r(strings.NewReader("one\r\ntwo\nthree")))
		if all, err := io.ReadAll(in); err != nil || string(all) != "one\r\ntwo\nthree" {
			t.Errorf("fed %q, %v", all, err)
		}
		for _, want := range []string{"one", "two", "three"} {
			if got, err := in.answer(); err != nil || got != want {
				t.Errorf("answer %q, %v; want %q", got, err, want)
			}
		}
		if got, err := in.answer(); err != io.EOF {
			t.Errorf("answer %q, %v after the end", got, err)
		}
	}
}

// What a command reads does not pile up for answers without a question.
func TestInputIsBounded(t *testing.T) {
	in := newInput(io.LimitReader(endless{}, 8<<20))
	n, err := io.Copy(io.Discard, struct{ io.Reader }{in})
	if n != 8<<20 || err != nil {
		t.Errorf("fed %d, %v", n, err)
	}
	if len(in.kept) > syntax.MaxLine {
		t.Errorf("keeps %d bytes", len(in.kept))
	}
	if got, err := newInput(endless{}).answer(); err != nil || len(got) < syntax.MaxLine {
		t.Errorf("a line without end: %d bytes, %v", len(got), err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
