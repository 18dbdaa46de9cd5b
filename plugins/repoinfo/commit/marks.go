package commit

import (
	"bytes"
	"regexp"
	"strings"
)

// Subject is the first paragraph of the message in one line, as git shows it.
func (c *Commit) Subject() string {
	var words []string
	for line := range strings.Lines(strings.TrimLeft(string(c.Message), " \t\r\n")) {
		if strings.TrimSpace(line) == "" {
			break
		}
		words = append(words, strings.TrimSpace(line))
	}
	return strings.ToValidUTF8(strings.Join(words, " "), "\uFFFD")
}

var changeID = regexp.MustCompile(`^I[0-9a-f]{40}$`)

// ChangeIDs are the identifiers that a Gerrit server gave to the change: the trailers Change-Id.
func (c *Commit) ChangeIDs() (ids []string) {
	for _, t := range Trailers(c.Message) {
		if bytes.EqualFold(t.Key, []byte("Change-Id")) && changeID.Match(t.Value) {
			ids = append(ids, string(t.Value))
		}
	}
	return ids
}

var picked = regexp.MustCompile(`^\(cherry picked from commit ([0-9a-f]{7,64})[) ]`)

// PickedFrom are the commits that this one was picked from, by the lines that git cherry-pick -x writes among the
// trailers; a pick of a pick has several.
func (c *Commit) PickedFrom() (hashes []string) {
	lines := bytes.Split(bytes.TrimRight(c.Message, "\n"), []byte{'\n'})
	for _, line := range trailerBlock(withoutConflicts(lines)) {
		if m := picked.FindSubmatch(line); m != nil {
			hashes = append(hashes, string(m[1]))
		}
	}
	return hashes
}

// withoutConflicts leaves out a last paragraph in which git lists the files that a pick had conflicts in.
func withoutConflicts(lines [][]byte) [][]byte {
	for i := len(lines) - 1; i > 0; i-- {
		text := bytes.TrimSpace(bytes.TrimPrefix(lines[i], []byte{'#'}))
		switch {
		case bytes.Equal(text, []byte("Conflicts:")):
			return lines[:i]
		case len(text) > 0 && len(text) == len(lines[i]):
			return lines // a line that is neither indented nor a comment is no file of the list
		}
	}
	return lines
}

// MinHash is how many digits of a hash name a commit without its subject.
const MinHash = 7

// Fix is a commit that another one repairs.
type Fix struct {
	Hash    string // in lower case, often shortened, perhaps empty; of fewer than MinHash digits beside a subject only
	Subject string // as the trailer quotes it, perhaps empty
}

var (
	fixed = regexp.MustCompile(`^(?i:commit\s+)?([0-9a-fA-F]{7,64})(?:[^0-9A-Za-z]|$)`)
	// fixedAt is the address of a commit on a server of repositories.
	fixedAt = regexp.MustCompile(`^https?://\S+/([0-9a-f]{7,64})(?:[?#]\S*)?$`)
	// fixedQuoted is a commit by its quoted subject, after a hash that is too short to stand alone or after none.
	fixedQuoted = regexp.MustCompile(`^(?i:commit\b\s*)?([0-9a-fA-F]{4,6}\b)?\s*\(?["“'](.+)["”']\)?[.,;]?$`)
)

// Fixes are the commits that the trailers Fixes name. Numbers of bugs and other texts after this key are not among
// them.
func (c *Commit) Fixes() (list []Fix) {
	for _, t := range Trailers(c.Message) {
		if !bytes.EqualFold(t.Key, []byte("Fixes")) {
			continue
		}
		value := strings.TrimSpace(string(t.Value))
		if m := fixedAt.FindStringSubmatch(value); m != nil {
			list = append(list, Fix{Hash: m[1]})
			continue
		}
		if m := fixedQuoted.FindStringSubmatch(value); m != nil {
			subject := strings.ToValidUTF8(m[2], "\uFFFD")
			list = append(list, Fix{
				Hash:    strings.ToLower(m[1]),
				Subject: subject,
			})
			continue
		}
		for {
			m := fixed.FindStringSubmatch(value)
			if m == nil {
				break
			}
			rest := strings.TrimSpace(value[strings.Index(value, m[1])+len(m[1]):])
			fix := Fix{Hash: strings.ToLower(m[1])}
			after, more := strings.CutPrefix(rest, ",") // a list of commits
			if value = strings.TrimSpace(after); !more || !fixed.MatchString(value) {
				fix.Subject = strings.ToValidUTF8(strings.Trim(rest, ` ,:;.()"'`), "\uFFFD")
				value = ""
			}
			list = append(list, fix)
		}
	}
	return list
}

var reverts = regexp.MustCompile(`(?m)^This reverts commit ([0-9a-f]{7,64})\b`)

// Reverts is the commit that this one undoes, by the sentence that git revert writes; empty if there is none.
func (c *Commit) Reverts() string {
	if m := reverts.FindSubmatch(c.Message); m != nil {
		return string(m[1])
	}
	return ""
}
