// Package commit parses commit objects as git stores them, filters them and writes
// them as JSON. It does no I/O of its own: package history feeds it, package counts
// supplies the line counts.
package commit

import (
	"bytes"
	"strconv"
)

// Commit is one commit object.
type Commit struct {
	Hash      []byte // hexadecimal
	Author    Signature
	Committer Signature
	Message   []byte   // whole, with trailers and final newline; converted to UTF-8 when the object names its encoding
	Cut       bool     // the message was longer than the limit
	Parents   int      // number of parents in the object
	Malformed []string // what of the object does not follow git's format, see Parse
	Position  int      // index in git's list, from 0

	State LineState
	Lines Lines
	Files []File // only when they were asked for
}

// Signature is an author or committer line.
type Signature struct {
	Name, Email []byte
	When        int64 // seconds since the epoch; 0 = unreadable
	West        int64 // zone, seconds WEST of UTC; 0 = unreadable
}

// Lines are the counts of one commit against its first parent.
type Lines struct{ Insertions, Deletions, Files uint64 }

// Total is insertions and deletions together.
func (l Lines) Total() uint64 {
	return l.Insertions + l.Deletions
}

// File is what one commit changed in one file. A binary file has no lines.
type File struct {
	Path                  string
	Insertions, Deletions uint64
}

// LineState says what is known of a commit's counts.
type LineState uint8

// NotAsked: the caller wants no counts. Unknown: an object is missing.
const (
	NotAsked LineState = iota
	Unknown
	Known
)

// Parse reads the content of a commit object. It never fails; what is not as git
// writes it is named in Malformed: author, author_date, author_zone (the same for
// committer), encoding (unknown, or the text does not fit it), nul (a NUL byte in the
// message).
func Parse(hash, object []byte) Commit {
	c := Commit{Hash: hash}
	var author, committer, encoding []byte
	for len(object) > 0 {
		var line []byte
		line, object, _ = bytes.Cut(object, []byte{'\n'})
		if len(line) == 0 {
			break // the message follows
		}
		key, value, _ := bytes.Cut(line, []byte{' '})
		switch string(key) {
		case "parent":
			c.Parents++
		case "author":
			author = firstValue(author, value)
		case "committer":
			committer = firstValue(committer, value)
		case "encoding":
			encoding = firstValue(encoding, value)
		}
	}
	c.Message = object
	c.Author = c.parseSignature("author", author)
	c.Committer = c.parseSignature("committer", committer)
	if len(encoding) > 0 {
		c.convertToUTF8(
			string(encoding),
			&c.Author.Name,
			&c.Author.Email,
			&c.Committer.Name,
			&c.Committer.Email,
			&c.Message,
		)
	}
	if bytes.IndexByte(c.Message, 0) >= 0 {
		c.markMalformed("nul")
	}
	return c
}

func firstValue(have, value []byte) []byte {
	if have == nil {
		return value
	}
	return have
}

func (c *Commit) markMalformed(what string) {
	c.Malformed = append(c.Malformed, what)
}

// parseSignature reads "Name <mail> seconds zone" by git's own rules (ident.c): the address
// ends at its first ">", the date follows the last one.
func (c *Commit) parseSignature(who string, line []byte) (s Signature) {
	open := bytes.IndexByte(line, '<')
	end := bytes.IndexByte(line[open+1:], '>')
	if open < 0 || end < 0 {
		c.markMalformed(who)
		return s
	}
	s.Name = bytes.TrimRight(line[:open], " \t")
	s.Email = line[open+1 : open+1+end]
	last := bytes.LastIndexByte(line, '>')
	if last != open+1+end || open == 0 || line[open-1] != ' ' {
		c.markMalformed(who)
	}
	rest := bytes.TrimLeft(line[last+1:], " \t")
	date, zone, _ := bytes.Cut(rest, []byte{' '})
	when, err := strconv.ParseUint(string(date), 10, 63)
	if err != nil {
		c.markMalformed(who + "_date")
		return s
	}
	s.When = int64(when)
	west, ok := parseZone(zone)
	if !ok {
		c.markMalformed(who + "_zone")
	}
	s.West = west
	return s
}

// parseZone reads "+0200" as -7200. A zone of another form, or more than 14 hours from UTC, is 0 and not ok.
func parseZone(zone []byte) (west int64, ok bool) {
	if len(zone) != 5 || (zone[0] != '+' && zone[0] != '-') {
		return 0, false
	}
	n, err := strconv.ParseUint(string(zone[1:]), 10, 16)
	if err != nil {
		return 0, false
	}
	if n%100 >= 60 || n > 1400 {
		return 0, false
	}
	west = -int64(n/100*3600 + n%100*60)
	if zone[0] == '-' {
		west = -west
	}
	return west, true
}

// Filter says which commits a caller wants. Zero members let everything pass.
type Filter struct {
	Author       string // e-mail address, case ignored
	Organization string // what follows the first "@" of it, case ignored
	Skip         bool   // leave out the commits the review server made by itself
	Since        int64  // committed at or after, seconds since the epoch
	Until        int64  // committed at or before
}

// Keep reports whether the filter lets a commit pass. Dates are compared here and not
// by git, which ends its walk at the first old commit and so loses what lies beyond one
// with a wrong clock.
func (f *Filter) Keep(c *Commit) bool {
	if f.Author != "" && !bytes.EqualFold(c.Author.Email, []byte(f.Author)) {
		return false
	}
	if f.Organization != "" && !bytes.EqualFold(Domain(c.Author.Email), []byte(f.Organization)) {
		return false
	}
	if !f.During(c.Committer.When) {
		return false
	}
	return !f.Skip || !c.isMechanical()
}

// During reports whether a time lies between Since and Until.
func (f *Filter) During(when int64) bool {
	return (f.Since == 0 || when >= f.Since) && (f.Until == 0 || when <= f.Until)
}

// Domain is the part of an e-mail address after its first "@".
func Domain(email []byte) []byte {
	_, domain, _ := bytes.Cut(email, []byte{'@'})
	return domain
}

var (
	reviewServer = []byte("Gerrit Code Review")
	mergeText    = []byte(`Merge "`)
	updatedText  = []byte("Updated ")
	projectText  = []byte("\nProject:")
	modulesText  = []byte("Updated git submodules\n\nProject:")
)

// isMechanical reports whether the review server made the commit by itself: the
// merge of a change, or the update of a submodule, whose author would be counted
// in every project that contains it.
func (c *Commit) isMechanical() bool {
	if !bytes.Equal(c.Committer.Name, reviewServer) {
		return false
	}
	if bytes.HasPrefix(c.Message, mergeText) || bytes.HasPrefix(c.Message, modulesText) {
		return true
	}
	rest, ok := bytes.CutPrefix(c.Message, updatedText)
	if !ok {
		return false
	}
	end := bytes.IndexByte(rest, '\n')
	return end > 0 && bytes.HasPrefix(rest[end:], projectText)
}
