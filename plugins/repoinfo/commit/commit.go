package commit

import (
	"bytes"
	"strconv"
)

// Commit is one commit as git log printed it. The slices point into the Chunk
// that holds the commit and live as long as it does.
type Commit struct {
	Hash           []byte // hexadecimal
	Author         []byte
	AuthorEmail    []byte
	AuthorDate     []byte // raw: seconds, blank, zone
	Committer      []byte
	CommitterEmail []byte
	CommitterDate  []byte
	Message        []byte // whole, with trailers and final newline
	Cut            bool   // the message was longer than the limit
	Position       int    // which one of git's list it is, from 0

	State LineState
	Lines Lines
}

// Lines are the counts of one commit against its first parent.
type Lines struct {
	Insertions, Deletions, Files uint32
}

// Total is insertions and deletions together.
func (l Lines) Total() uint64 { return uint64(l.Insertions) + uint64(l.Deletions) }

// LineState says what is known of a commit's counts.
type LineState uint8

// NotAsked: the caller wants no counts. Unknown: an object is missing.
const (
	NotAsked LineState = iota
	Unknown
	Known
)

// Format is the format of git log that a Scanner reads; it goes with -z,
// --date=raw and --encoding=UTF-8.
const Format = "--format=%H%x00%an%x00%ae%x00%ad%x00%cn%x00%ce%x00%cd%x00%B"

// fieldCount is the number of NUL-ended fields of Format.
const fieldCount = 8

// set points the commit's fields into the record, whose fields end in NUL.
func (c *Commit) set(record []byte) bool {
	fields := [fieldCount]*[]byte{&c.Hash, &c.Author, &c.AuthorEmail, &c.AuthorDate,
		&c.Committer, &c.CommitterEmail, &c.CommitterDate, &c.Message}
	for _, f := range fields {
		end := bytes.IndexByte(record, 0)
		if end < 0 {
			return false
		}
		*f, record = record[:end:end], record[end+1:]
	}
	return len(record) == 0 && (len(c.Hash) == 40 || len(c.Hash) == 64)
}

// When reads git's raw date: seconds since the epoch and the zone in seconds
// WEST of UTC ("+0200" is -7200). What git could not read is 0.
func When(raw []byte) (epoch, west int64) {
	date, zone, _ := bytes.Cut(raw, []byte{' '})
	epoch, err := strconv.ParseInt(string(date), 10, 64)
	if err != nil {
		epoch = 0
	}
	n, err := strconv.ParseInt(string(zone), 10, 32)
	if err != nil {
		return epoch, 0
	}
	return epoch, -(n/100*3600 + n%100*60)
}
