package commit

import "bytes"

// Trailer is a line "Key: value" at the end of a message, with its continuation lines joined.
type Trailer struct{ Key, Value []byte }

// Trailers are those of a message as git reads them (git-interpret-trailers(1)): they stand in the last paragraph, which
// is not the first one, and which holds nothing else, or a line that git itself writes and at least a quarter of trailers.
func Trailers(message []byte) []Trailer {
	var found []Trailer
	for _, line := range trailerBlock(bytes.Split(bytes.TrimRight(message, "\n"), []byte{'\n'})) {
		colon := trailerSeparator(line)
		switch {
		case len(line) > 0 && isBlank(line[0]):
			if n := len(found); n > 0 {
				value := append(bytes.Clone(found[n-1].Value), ' ')
				found[n-1].Value = append(value, bytes.TrimSpace(line)...)
			}
		case colon > 0:
			found = append(
				found,
				Trailer{
					Key:   bytes.TrimSpace(line[:colon]),
					Value: bytes.TrimSpace(line[colon+1:]),
				},
			)
		}
	}
	return found
}

// generated are the beginnings of lines that git writes itself.
var generated = [][]byte{[]byte("Signed-off-by: "), []byte("(cherry picked from commit ")}

// trailerBlock returns the lines of the last paragraph if it holds trailers.
func trailerBlock(lines [][]byte) [][]byte {
	title := 0
	for title < len(lines) && !blankLine(lines[title]) {
		title++
	}
	end := len(lines)
	for end > title && blankLine(lines[end-1]) {
		end--
	}
	var trailers, others, continuations int
	byGit := false
	for i := end - 1; i >= title; i-- {
		line := lines[i]
		switch {
		case blankLine(line):
			others += continuations
			if trailers > 0 && others == 0 || byGit && trailers*3 >= others {
				return lines[i+1 : end]
			}
			return nil
		case hasPrefixOf(line, generated):
			trailers, continuations, byGit = trailers+1, 0, true
		case isBlank(line[0]):
			continuations++
		case trailerSeparator(line) > 0:
			trailers, continuations = trailers+1, 0
		default:
			others, continuations = others+1+continuations, 0
		}
	}
	return nil
}

// trailerSeparator is where the colon of a trailer is: after letters, digits and hyphens, and perhaps blanks; 0 if the line is none.
func trailerSeparator(line []byte) int {
	blank := false
	for i, c := range line {
		switch {
		case c == ':':
			return i
		case i > 0 && isBlank(c):
			blank = true
		case !blank && (c == '-' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'):
		default:
			return 0
		}
	}
	return 0
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

func blankLine(line []byte) bool {
	return len(bytes.TrimSpace(line)) == 0
}

func hasPrefixOf(line []byte, prefixes [][]byte) bool {
	for _, p := range prefixes {
		if bytes.HasPrefix(line, p) {
			return true
		}
	}
	return false
}

var authorKeys = [][]byte{[]byte("Co-authored-by"), []byte("Also-by")}

// maxAddress is the longest address that counts, in bytes (RFC 3696, errata 1690).
const maxAddress = 320

// CoAuthors are the names and addresses of the trailers that name further authors.
func (c *Commit) CoAuthors() (found []Signature) {
	for _, t := range Trailers(c.Message) {
		for _, key := range authorKeys {
			if !bytes.EqualFold(t.Key, key) {
				continue
			}
			name, email, both := bytes.Cut(t.Value, []byte{'<'})
			if !both {
				name, email = nil, name
			}
			email, _, _ = bytes.Cut(email, []byte{'>'})
			if email = bytes.TrimSpace(email); bytes.ContainsRune(email, '@') &&
				len(email) <= maxAddress {
				found = append(found, Signature{
					Name:  bytes.TrimSpace(name),
					Email: email,
				})
			}
		}
	}
	return found
}
