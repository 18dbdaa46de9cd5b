package counts

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"

	"ctl.internal/plugins/repoinfo/commit"
	"ctl.internal/plugins/repoinfo/gitcmd"
)

// Differ is one git diff-tree that is fed with hashes. It starts at the first
// commit to count. It belongs to one goroutine and must be closed.
type Differ struct {
	Git      *gitcmd.Git
	Dir      string
	Options  Options
	Boundary map[string]bool // commits whose parents a shallow clone lacks: not countable
	Files    bool            // hand over the files of each commit too

	proc  *gitcmd.Process
	out   *bufio.Reader
	batch int
}

// Args are the arguments of git. Everything that a configuration could change
// in the counts is pinned.
func (o Options) Args() []string {
	args := append(
		diffTree("--numstat"),
		"--no-ext-diff",
		"--no-textconv",
		"--diff-algorithm=myers",
		"--no-color",
	)
	if o.Renames {
		return append(args, "-M50%", "-l1000")
	}
	return append(args, "--no-renames")
}

func diffTree(format string) []string {
	return []string{"diff-tree", "--stdin", "--always", "-r", "--root", format, "--diff-merges=first-parent",
		"--ignore-submodules=none"}
}

// Count implements Counter. When git dies of a missing object, the commits that lack
// one are found and left out, and git goes on with the others.
func (d *Differ) Count(ctx context.Context, hashes [][]byte, result Result) error {
	open := make([]int, 0, len(hashes))
	for i, h := range hashes {
		if !d.Boundary[string(h)] {
			open = append(open, i)
		}
	}
	checked := false
	for len(open) > 0 {
		n, err := d.countRun(ctx, hashes, open, result)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !isExitError(err):
			return err
		case !checked:
			checked = true
			if open, err = d.wholeCommits(ctx, hashes, open[n:]); err != nil {
				return err
			}
		default: // of something that whole does not find; is it the next commit?
			if _, err := d.countRun(ctx, hashes, open[n:n+1], result); err != nil {
				if !isExitError(err) || ctx.Err() != nil {
					return errors.Join(ctx.Err(), err)
				}
			}
			open = open[n+1:]
		}
	}
	return nil
}

// isExitError distinguishes a git that ran and gave up from one that could not be run.
func isExitError(err error) bool {
	_, ok := gitcmd.ExitCode(err)
	return ok
}

// countRun counts the commits at index open in one go. On an error n is the first of them
// whose counts are not certain.
func (d *Differ) countRun(
	ctx context.Context,
	hashes [][]byte,
	open []int,
	result Result,
) (n int, err error) {
	if d.proc == nil {
		if d.proc, err = d.Git.Start(ctx,
			gitcmd.Call{
				Dir:        d.Dir,
				Args:       d.Options.Args(),
				Input:      true,
				Background: true,
			}); err != nil {
			return 0, err
		}
		d.out = bufio.NewReaderSize(d.proc.Stdout, 64<<10)
	}
	d.batch++
	marker := fmt.Appendf(nil, "batch %d", d.batch)
	// git repeats a line that is no hash, after all answers before it
	if _, err := d.proc.Stdin.Write(append(append(joinHashes(hashes, open), marker...), '\n')); err != nil {
		return 0, d.endProcess(err)
	}
	p := numstat{
		hashes: hashes,
		open:   open,
		result: result,
		want:   d.Files,
	}
	for {
		line, err := readLine(d.out)
		if err != nil {
			return max(0, p.next-1), d.endProcess(err)
		}
		if bytes.Equal(line, marker) {
			p.flushCommit()
			return len(open), nil
		}
		if err := p.parseLine(line); err != nil {
			d.Close()
			return 0, err
		}
	}
}

// joinHashes is the hashes at index open, one a line.
func joinHashes(hashes [][]byte, open []int) (lines []byte) {
	for _, i := range open {
		lines = append(append(lines, hashes[i]...), '\n')
	}
	return lines
}

// endProcess collects the child after its pipe broke, for how it ended.
func (d *Differ) endProcess(cause error) error {
	defer func() { d.proc = nil }()
	return d.proc.Ended(cause)
}

// Close ends the child.
func (d *Differ) Close() {
	if d.proc != nil {
		d.proc.Close()
		d.proc = nil
	}
}

// readLine returns a line without its end; the tail of a very long one (a path)
// is dropped.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line = bytes.Clone(line)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = r.ReadSlice('\n')
		}
	}
	if err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(line, []byte{'\n'}), nil
}

// numstat reads the answers of diff-tree: a commit's hash, then a line per file.
type numstat struct {
	hashes [][]byte
	open   []int // indexes of those that were asked for, in order
	next   int   // in open: the commit after the one being read
	result Result
	want   bool // files are wanted

	reading bool
	files   []commit.File
	lines   commit.Lines
}

func (p *numstat) parseLine(line []byte) error {
	ins, rest, ok := bytes.Cut(line, []byte{'\t'})
	if !ok {
		return p.beginCommit(line)
	}
	del, path, ok := bytes.Cut(rest, []byte{'\t'})
	if !ok || !p.reading {
		return fmt.Errorf("git diff-tree printed %.80q", line)
	}
	var f commit.File
	if string(ins) != "-" || string(del) != "-" { // else binary: a file without lines
		var err1, err2 error
		f.Insertions, err1 = strconv.ParseUint(string(ins), 10, 40)
		f.Deletions, err2 = strconv.ParseUint(string(del), 10, 40)
		if err := errors.Join(err1, err2); err != nil {
			return fmt.Errorf("git diff-tree printed %.80q: %w", line, err)
		}
	}
	p.lines.Files++
	p.lines.Insertions += f.Insertions
	p.lines.Deletions += f.Deletions
	if p.want {
		f.Path = unquotePath(string(path))
		p.files = append(p.files, f)
	}
	return nil
}

// unquotePath undoes the quotes that git puts around a path with odd characters.
func unquotePath(path string) string {
	plain, err := strconv.Unquote(path)
	if err == nil && path[0] == '"' {
		return plain
	}
	return path
}

// beginCommit begins the next commit. Commits that git does not have are left out
// silently by it, and so stay unknown.
func (p *numstat) beginCommit(hash []byte) error {
	p.flushCommit()
	for n := p.next; n < len(p.open); n++ {
		if bytes.Equal(p.hashes[p.open[n]], hash) {
			p.next, p.reading = n+1, true
			return nil
		}
	}
	return fmt.Errorf("git diff-tree printed %.80q", hash)
}

func (p *numstat) flushCommit() {
	if p.reading {
		p.result(p.open[p.next-1], p.lines, p.files)
	}
	p.reading, p.lines, p.files = false, commit.Lines{}, nil
}
