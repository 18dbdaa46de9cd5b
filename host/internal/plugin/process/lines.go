package process

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine is what is kept of a line; the rest of a longer one is counted only.
const maxLine = 8 << 10

// readLines calls f for each line of r without its end, until r ends. cut is how
// many bytes of the line are missing. The slice is valid during the call only.
func readLines(r io.Reader, f func(line []byte, cut int)) {
	br := bufio.NewReaderSize(r, maxLine)
	for {
		line, err := br.ReadSlice('\n')
		cut := 0
		if errors.Is(err, bufio.ErrBufferFull) {
			line = bytes.Clone(line)
			cut, err = skipLine(br)
		}
		if len(line) > 0 {
			f(bytes.TrimRight(line, "\r\n"), cut)
		}
		if err != nil {
			return
		}
	}
}

func skipLine(br *bufio.Reader) (skipped int, err error) {
	for {
		rest, err := br.ReadSlice('\n')
		skipped += len(rest)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return skipped, err
		}
	}
}

// lineWriter cuts what is written to it into lines.
type lineWriter struct {
	f   func(line []byte, cut int)
	buf []byte
	cut int
}

func (w *lineWriter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		part, rest, ended := bytes.Cut(p, []byte{'\n'})
		room := min(len(part), maxLine-len(w.buf))
		w.buf = append(w.buf, part[:room]...)
		w.cut += len(part) - room
		if ended {
			w.f(w.buf, w.cut)
			w.buf, w.cut = w.buf[:0], 0
		}
		p = rest
	}
	return n, nil
}
