package commit

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// AppendJSON appends the commit as the JSON object of the API. Written by hand
// because a long history is little else than this function.
func (c *Commit) AppendJSON(b []byte, project string) []byte {
	b = append(b, `{"author":`...)
	b = appendString(b, c.Author)
	b = append(b, `,"author_email":`...)
	b = appendString(b, bytes.ToLower(c.AuthorEmail))
	epoch, west := When(c.AuthorDate)
	b = appendNumber(b, `,"author_tz_offset":`, west)
	b = appendNumber(b, `,"authored_date":`, epoch)
	epoch, west = When(c.CommitterDate)
	b = appendNumber(b, `,"committed_date":`, epoch)
	b = append(b, `,"committer":`...)
	b = appendString(b, c.Committer)
	b = append(b, `,"committer_email":`...)
	b = appendString(b, bytes.ToLower(c.CommitterEmail))
	b = appendNumber(b, `,"committer_tz_offset":`, west)
	b = append(b, `,"hash":"`...)
	b = append(b, c.Hash...)
	b = append(b, '"')
	switch c.State {
	case Unknown:
		b = append(b, `,"lines":null`...)
	case Known:
		b = appendNumber(b, `,"lines":{"deletions":`, int64(c.Lines.Deletions))
		b = appendNumber(b, `,"files":`, int64(c.Lines.Files))
		b = appendNumber(b, `,"insertions":`, int64(c.Lines.Insertions))
		b = appendNumber(b, `,"lines":`, int64(c.Lines.Total()))
		b = append(b, '}')
	}
	b = append(b, `,"message":`...)
	b = appendString(b, c.Message)
	if c.Cut {
		b = append(b, `,"message_truncated":true`...)
	}
	b = append(b, `,"project":`...)
	b = appendString(b, []byte(project))
	return append(b, '}')
}

func appendNumber(b []byte, name string, n int64) []byte {
	return strconv.AppendInt(append(b, name...), n, 10)
}

const hex = "0123456789abcdef"

// appendString appends s as a JSON string; what is not UTF-8 becomes U+FFFD.
func appendString(b, s []byte) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRune(s[i:])
			if r == utf8.RuneError && size == 1 {
				b = append(append(b, s[start:i]...), "\uFFFD"...)
				start = i + 1
			}
			i += size
			continue
		}
		b = append(b, s[start:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\t':
			b = append(b, '\\', 't')
		case '\r':
			b = append(b, '\\', 'r')
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		start = i
	}
	return append(append(b, s[start:]...), '"')
}
