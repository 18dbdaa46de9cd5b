package sshserver

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"ctl.internal/sdk/fault"
)

var readers = []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.OneByteReader, iotest.DataErrReader}

func TestInputHoldsAnswers(t *testing.T) {
	for _, r := range readers {
		in := newInput(r(strings.NewReader("one\r\ntwo\nthree")))
		for _, want := range []string{"one", "two", "three"} {
			if got, err := in.readAnswer(); err != nil || got != want {
				t.Errorf("answer %q, %v; want %q", got, err, want)
			}
		}
		if got, err := in.readAnswer(); err != io.EOF {
			t.Errorf("answer %q, %v after the end", got, err)
		}
		if rest, err := io.ReadAll(in); len(rest) > 0 || fault.KindOf(err) != fault.Unavailable {
			t.Errorf("the command is fed %q, %v: answers must not be repeated", rest, err)
		}
	}
}

func TestInputHoldsData(t *testing.T) {
	for _, r := range readers {
		in := newInput(r(strings.NewReader("one\ntwo\n")))
		if _, err := in.Read(make([]byte, 1)); err != nil {
			t.Error(err)
		}
		if got, err := in.readAnswer(); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("answered with data: %q, %v", got, err)
		}
		if all, err := io.ReadAll(in); err != nil || string(all) != "ne\ntwo\n" {
			t.Errorf("fed %q, %v", all, err)
		}
	}
}

func TestMuchInputIsNoAnswer(t *testing.T) {
	var lines strings.Builder
	for i := range 40000 {
		fmt.Fprintln(&lines, i)
	}
	for name, text := range map[string]string{
		"without a line end":                      strings.Repeat("x", 200<<10),
		"in short lines":                          lines.String(),
		"in one write of a program that has more": lines.String()[:4096],
		"one long line":                           strings.Repeat("x", maxAnswers) + "\n",
	} {
		if got, err := newInput(strings.NewReader(text)).readAnswer(); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("%s: answered with %.20q, %v", name, got, err)
		}
	}
}
