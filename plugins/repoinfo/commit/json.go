package commit

import (
	"bytes"
	"encoding/json"
)

// wire is the JSON object of the API.
type wire struct {
	Author          string   `json:"author"`
	AuthorEmail     string   `json:"author_email"`
	AuthorOffset    int64    `json:"author_tz_offset"`
	AuthoredDate    int64    `json:"authored_date"`
	CommittedDate   int64    `json:"committed_date"`
	Committer       string   `json:"committer"`
	CommitterEmail  string   `json:"committer_email"`
	CommitterOffset int64    `json:"committer_tz_offset"`
	Hash            string   `json:"hash"`
	Lines           any      `json:"lines,omitzero"` // absent when not asked for, null when unknown
	Malformed       []string `json:"malformed,omitempty"`
	Message         string   `json:"message"`
	Truncated       bool     `json:"message_truncated,omitempty"`
	Project         string   `json:"project"`
}

// wireLines are the counts of a commit.
type wireLines struct {
	Deletions  uint64 `json:"deletions"`
	Files      uint64 `json:"files"`
	Insertions uint64 `json:"insertions"`
	Lines      uint64 `json:"lines"`
}

// Encoder writes commits of one project as JSON objects, one a line.
type Encoder struct {
	project string
	buf     bytes.Buffer
	json    *json.Encoder
}

// NewEncoder returns an encoder for the commits of a project.
func NewEncoder(project string) *Encoder {
	e := &Encoder{project: project}
	e.json = json.NewEncoder(&e.buf)
	e.json.SetEscapeHTML(false)
	return e
}

// Encode returns the commit's object and a newline, valid until the next call. What is
// not UTF-8 becomes U+FFFD.
func (e *Encoder) Encode(c *Commit) ([]byte, error) {
	w := wire{
		Author:          string(c.Author.Name),
		AuthorEmail:     string(bytes.ToLower(c.Author.Email)),
		AuthorOffset:    c.Author.West,
		AuthoredDate:    c.Author.When,
		CommittedDate:   c.Committer.When,
		Committer:       string(c.Committer.Name),
		CommitterEmail:  string(bytes.ToLower(c.Committer.Email)),
		CommitterOffset: c.Committer.West,
		Hash:            string(c.Hash),
		Malformed:       c.Malformed,
		Message:         string(c.Message),
		Truncated:       c.Cut,
		Project:         e.project,
	}
	e.buf.Reset()
	switch c.State {
	case Unknown:
		w.Lines = json.RawMessage("null")
	case Known:
		l := c.Lines
		w.Lines = &wireLines{
			Deletions:  l.Deletions,
			Files:      l.Files,
			Insertions: l.Insertions,
			Lines:      l.Total(),
		}
	}
	err := e.json.Encode(&w)
	return e.buf.Bytes(), err
}
