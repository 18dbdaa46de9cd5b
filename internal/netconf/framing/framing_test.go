package framing

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// stream reads from a text and writes to a buffer.
type stream struct {
	io.Reader
	io.Writer
}

func TestRead(t *testing.T) {
	long := strings.Repeat("<a>text ##\n#9\n]]></a>", 5000)
	for name, c := range map[string]struct {
		chunked bool
		in      string
		want    []string // messages, then the end
		err     error
	}{
		"mark":                       {false, "<a/>]]>]]>\n<b/>]]>]]>", []string{"<a/>", "\n<b/>"}, io.EOF},
		"mark, long":                 {false, long + "]]>]]>", []string{long}, io.EOF},
		"mark, a half one inside":    {false, "<a>]]>]]</a>]]>]]>", []string{"<a>]]>]]</a>"}, io.EOF},
		"mark, half a message":       {false, "<a>]]>", nil, io.ErrUnexpectedEOF},
		"mark, chunks come":          {false, "\n#4\n<a/>\n##\n", nil, ErrBroken},
		"mark, a banner":             {false, "Welcome to the router\n", nil, ErrBroken},
		"mark, too long":             {false, "<" + strings.Repeat("a", 200_000), nil, ErrBroken},
		"chunks":                     {true, "\n#4\n<a/>\n##\n\n#1\n<\n#3\nb/>\n##\n", []string{"<a/>", "<b/>"}, io.EOF},
		"chunks, marks inside":       {true, "\n#15\n<a>\n##\n]]>]]>x\n\n##\n", []string{"<a>\n##\n]]>]]>x\n"}, io.EOF},
		"chunks, the mark comes":     {true, "<a/>]]>]]>", nil, ErrBroken},
		"chunks, none":               {true, "\n##\n", nil, ErrBroken},
		"chunks, size 0":             {true, "\n#0\n\n##\n", nil, ErrBroken},
		"chunks, size 01":            {true, "\n#01\na\n##\n", nil, ErrBroken},
		"chunks, size 2^32":          {true, "\n#4294967296\na", nil, ErrBroken},
		"chunks, a size of 11":       {true, "\n#11111111111\na", nil, ErrBroken},
		"chunks, a claimed gigabyte": {true, "\n#1000000000\na", nil, ErrBroken},
		"chunks, too long together":  {true, "\n#90000\n" + strings.Repeat("a", 90000) + "\n#90000\n", nil, ErrBroken},
		"chunks, no size":            {true, "\n#\n", nil, ErrBroken},
		"chunks, letters":            {true, "\n#4a\n", nil, ErrBroken},
		"chunks, ends in a header":   {true, "\n#", nil, io.ErrUnexpectedEOF},
		"chunks, ends in data":       {true, "\n#9\n<a/>", nil, io.ErrUnexpectedEOF},
		"chunks, ends without ##":    {true, "\n#4\n<a/>", nil, io.ErrUnexpectedEOF},
		"chunks, three #":            {true, "\n#4\n<a/>\n###\n", nil, ErrBroken},
	} {
		for cut, r := range map[string]io.Reader{"whole": strings.NewReader(c.in), "octet by octet": iotest.OneByteReader(strings.NewReader(c.in))} {
			f := New(stream{r, io.Discard}, 150_000)
			f.Chunked = c.chunked
			for i := 0; ; i++ {
				got, err := f.Read()
				if err != nil {
					if !errors.Is(err, c.err) || i != len(c.want) {
						t.Errorf("%s, %s: after %d messages: %v", name, cut, i, err)
					}
					break
				}
				if i >= len(c.want) || string(got) != c.want[i] {
					t.Fatalf("%s, %s: message %d is %.80q", name, cut, i, got)
				}
			}
		}
	}
}

func TestWrite(t *testing.T) {
	var b bytes.Buffer
	f := New(stream{&b, &b}, 100)
	for _, bad := range []string{"", "<a>]]>]]></a>", strings.Repeat("a", 101)} {
		if err := f.Write([]byte(bad)); err == nil || b.Len() > 0 {
			t.Errorf("%.20q was written", bad)
		}
	}
	if err := f.Write([]byte("<a/>")); err != nil || b.String() != "<a/>]]>]]>" {
		t.Errorf("%v %q", err, b.String())
	}
	b.Reset()
	f.Chunked = true
	if err := f.Write([]byte("<ä/>")); err != nil || b.String() != "\n#5\n<ä/>\n##\n" {
		t.Errorf("%v %q", err, b.String())
	}
}

func FuzzRead(f *testing.F) {
	f.Add(true, []byte("\n#4\n<a/>\n##\n"))
	f.Add(false, []byte("<a/>]]>]]>"))
	f.Fuzz(func(t *testing.T, chunked bool, data []byte) {
		r := New(stream{bytes.NewReader(data), io.Discard}, 1000)
		r.Chunked = chunked
		for {
			msg, err := r.Read()
			if err != nil {
				return
			}
			if len(msg) > 1000 {
				t.Fatalf("%d bytes in spite of the cap", len(msg))
			}
			if len(msg) == 0 {
				continue
			}
			var b bytes.Buffer
			w := New(stream{&b, &b}, 1000)
			w.Chunked = chunked
			if err := w.Write(msg); err != nil {
				t.Fatalf("%q was read but cannot be written: %v", msg, err)
			}
			if again, err := w.Read(); err != nil || !bytes.Equal(again, msg) {
				t.Fatalf("%q became %q, %v", msg, again, err)
			}
		}
	})
}
