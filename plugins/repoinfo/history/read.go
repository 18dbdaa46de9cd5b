// Package history lists commits: it resolves references, has git list the commits, reads
// them, has package counts fill in the lines, and hands runs of commits on in order while
// git still works. Memory is bounded by the runs in flight.
//
// Package api turns the runs into answers, package report into totals.
package history

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"ctl.internal/plugins/repoinfo/commit"
	"ctl.internal/plugins/repoinfo/counts"
	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/plugins/repoinfo/jobs"
)

// listHashes returns the hashes of a query, one a line, from its job: later pages begin in
// the middle of it without a walk.
func (l *Lister) listHashes(r Repo, q *Query) *jobs.Handle {
	args := q.revListArgs()
	key := "list " + r.Project + "\x00" + q.View + "\x00" + strings.Join(args, "\x00")
	return l.Jobs.Get(key, nil, func(ctx context.Context, w io.Writer) (any, bool, error) {
		p, err := r.Git.Start(ctx, gitcmd.Call{
			Dir:  r.Dir,
			Args: args,
		})
		if err != nil {
			return nil, false, err
		}
		defer p.Close()
		_, err = io.Copy(w, p.Stdout)
		return nil, true, errors.Join(err, p.Wait())
	})
}

// Bounds of a run of commits: many small ones or few large ones.
const (
	runCommits = 128
	runBytes   = 256 << 10
)

// headerLimit is what is read of a commit object besides its message: names, parents,
// signatures.
const headerLimit = 64 << 10

// readCommits reads the commits of a query, drops those that the filter refuses and sends the
// others on in runs.
func (l *Lister) readCommits(
	ctx context.Context,
	r Repo,
	q *Query,
	send func([]commit.Commit) error,
) error {
	hashes := l.listHashes(r, q)
	defer hashes.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p, err := r.Git.Start(
		ctx,
		gitcmd.Call{
			Dir:   r.Dir,
			Args:  []string{"cat-file", "--batch", "--buffer"},
			Input: true,
		},
	)
	if err != nil {
		return err
	}
	defer p.Close()
	fed := make(chan error, 1)
	go func() {
		err := hashes.Copy(ctx, p.Stdin, int64(q.Offset)*int64(len(q.Tip)+1), func() {})
		fed <- errors.Join(err, p.Stdin.Close())
	}()
	err = l.readRuns(p.Stdout, q, send)
	if err != nil {
		cancel() // git and the feeder end
	}
	feedErr := <-fed
	if errors.Is(err, errEnough) {
		return nil // what is sent is more than the limit; the consumer cuts it
	}
	if err != nil {
		return err
	}
	return errors.Join(feedErr, p.Wait())
}

// readRuns reads what cat-file prints.
func (l *Lister) readRuns(out io.Reader, q *Query, send func([]commit.Commit) error) error {
	in := bufio.NewReaderSize(out, 256<<10)
	var run []commit.Commit
	sent, size := 0, 0
	most := 8 // small runs first: an early first byte
	for position := q.Offset; ; position++ {
		c, n, err := l.nextCommit(in)
		end := errors.Is(err, io.EOF)
		if err != nil && !end {
			return err
		}
		if !end {
			c.Position = position
			if q.Filter.Keep(&c) {
				run, size = append(run, c), size+n
			}
		}
		if len(run) > 0 && (end || len(run) >= most || size >= runBytes) {
			if err := send(run); err != nil {
				return err
			}
			sent += len(run)
			run, size, most = nil, 0, min(2*most, runCommits)
		}
		if end {
			return nil
		}
		if q.Limit > 0 && sent > q.Limit {
			return errEnough
		}
	}
}

// nextCommit reads one commit: a line with hash, type and size, the object, a newline. io.EOF
// after the last.
func (l *Lister) nextCommit(in *bufio.Reader) (c commit.Commit, size int, err error) {
	line, err := in.ReadSlice('\n')
	if err != nil {
		if errors.Is(err, io.EOF) && len(line) > 0 {
			err = io.ErrUnexpectedEOF
		}
		return c, 0, err
	}
	hash, rest, _ := bytes.Cut(bytes.TrimSuffix(line, []byte{'\n'}), []byte{' '})
	kind, text, _ := strings.Cut(string(rest), " ")
	if kind == "missing" {
		return c, 0, &gitcmd.ExitError{
			Command: "cat-file",
			Code:    128,
			Stderr:  fmt.Sprintf("fatal: commit %s is missing", hash),
		}
	}
	size, err = strconv.Atoi(text)
	if err != nil || kind != "commit" {
		return c, 0, fmt.Errorf("git cat-file printed %.100q", line)
	}
	part := min(size, headerLimit+l.MessageLimit)
	b := make([]byte, len(hash)+part)
	copy(b, hash)
	n := len(hash)
	if _, err := io.ReadFull(in, b[n:]); err != nil {
		return c, 0, io.ErrUnexpectedEOF
	}
	if _, err := in.Discard(size - part + 1); err != nil {
		return c, 0, io.ErrUnexpectedEOF
	}
	c = commit.Parse(b[:n:n], b[n:])
	c.Cut = size > part
	if len(c.Message) > l.MessageLimit {
		c.Message, c.Cut = c.Message[:l.MessageLimit], true
	}
	return c, part, nil
}

// Merges says whether merge commits are wanted.
type Merges string

// The values of the parameter merges.
const (
	WithMerges Merges = "true"
	NoMerges   Merges = "false"
	OnlyMerges Merges = "only"
)

// Query is a list of commits that is asked for. Tip and Base are hashes and View covers
// what else decides about the list, so an answer to a Query never changes.
type Query struct {
	Tip      string // from here back
	Base     string // down to here, itself excluded; empty = to the roots
	View     string // Repo.View
	Path     string // only commits that touch it
	Simplify bool   // of those, the ones that git's simplified history shows
	Merges   Merges
	Filter   commit.Filter
	Stats    bool // with counts
	Files    bool // with files, which are not kept: each time they are read again
	Renames  bool // detect renames when lines are counted
	Offset   int  // commits of git's list (before the filter) to leave out
	Limit    int  // commits wanted; 0 = all
}

func (q *Query) countOptions() counts.Options {
	return counts.Options{Renames: q.Renames, View: q.View}
}

// revListArgs are git's arguments for the list. Dates are not among them: git would stop at the
// first commit with a wrong clock.
func (q *Query) revListArgs() []string {
	args := []string{"rev-list"}
	switch q.Merges {
	case NoMerges:
		args = append(args, "--no-merges")
	case OnlyMerges:
		args = append(args, "--merges")
	}
	if q.Path != "" && !q.Simplify {
		args = append(args, "--full-history")
	}
	args = append(args, "--end-of-options", q.Tip)
	if q.Base != "" {
		args = append(args, "^"+q.Base)
	}
	args = append(args, "--")
	if q.Path != "" {
		args = append(args, q.Path)
	}
	return args
}
