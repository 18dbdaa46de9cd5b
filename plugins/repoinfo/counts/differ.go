package counts

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
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

	deaths int // in a row

	proc  *gitcmd.Process
	out   *bufio.Reader
	batch int
}

// manyDeaths in a row mean a clone without contents; to go on would start a
// process for every commit of it.
const manyDeaths = 100

// Args are the arguments of git. Everything that a configuration could change
// in the counts is pinned.
func (o Options) Args() []string {
	args := []string{"diff-tree", "--stdin", "--always", "-r", "--root", "--numstat", "--diff-merges=first-parent",
		"--no-ext-diff", "--no-textconv", "--diff-algorithm=myers", "--no-color", "--ignore-submodules=none"}
	if o.Renames {
		return append(args, "-M50%", "-l1000")
	}
	return append(args, "--no-renames")
}

// Count implements Counter. A git that dies of a missing object is started
// again behind the commit it died of.
func (d *Differ) Count(ctx context.Context, hashes [][]byte, result func(i int, l commit.Lines)) error {
	for from := 0; from < len(hashes); {
		if d.Boundary[string(hashes[from])] {
			from++
			continue
		}
		to := from + 1
		for to < len(hashes) && !d.Boundary[string(hashes[to])] {
			to++
		}
		if err := d.span(ctx, hashes, from, to, result); err != nil {
			return err
		}
		from = to
	}
	return nil
}

func (d *Differ) span(ctx context.Context, hashes [][]byte, from, to int, result func(int, commit.Lines)) error {
	alone := false
	for from < to && d.deaths < manyDeaths {
		end := to
		if alone {
			end = from + 1
		}
		next, err := d.run(ctx, hashes[:end], from, result)
		switch {
		case err == nil:
			from, alone, d.deaths = end, false, 0
		case ctx.Err() != nil:
			return ctx.Err()
		case !died(err):
			return err
		case alone:
			from, alone = next, false
			if from < end {
				from = end // the one it died of: its counts stay unknown
				d.deaths++
			}
		default:
			from, alone = next, true
		}
	}
	return nil
}

// died tells a git that ran and gave up from one that could not be run.
func died(err error) bool {
	_, ok := gitcmd.ExitCode(err)
	return ok
}

// run counts hashes[from:] in one go. On an error next is the first commit
// whose counts are not certain.
func (d *Differ) run(ctx context.Context, hashes [][]byte, from int, result func(int, commit.Lines)) (next int, err error) {
	if d.proc == nil {
		if d.proc, err = d.Git.Start(ctx, d.Dir, true, d.Options.Args()...); err != nil {
			return from, err
		}
		d.out = bufio.NewReaderSize(d.proc.Stdout, 64<<10)
	}
	d.batch++
	marker := fmt.Appendf(nil, "batch %d", d.batch)
	var feed bytes.Buffer
	for _, h := range hashes[from:] {
		feed.Write(h)
		feed.WriteByte('\n')
	}
	feed.Write(marker) // git repeats a line that is no hash, after all answers before it
	feed.WriteByte('\n')
	if _, err := d.proc.Stdin.Write(feed.Bytes()); err != nil {
		return from, d.end(err)
	}
	p := numstat{hashes: hashes, next: from, result: result}
	for {
		line, err := readLine(d.out)
		if err != nil {
			return max(from, p.next-1), d.end(err)
		}
		if bytes.Equal(line, marker) {
			p.flush()
			return len(hashes), nil
		}
		if err := p.line(line); err != nil {
			d.Close()
			return from, err
		}
	}
}

// end collects the child after its pipe broke, for how it ended.
func (d *Differ) end(cause error) error {
	_ = d.proc.Stdin.Close()
	_, _ = io.Copy(io.Discard, d.proc.Stdout)
	err := d.proc.Wait()
	d.proc = nil
	if err == nil {
		err = fmt.Errorf("git diff-tree ended early: %w", cause)
	}
	return err
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
	next   int // the commit after the one being read
	result func(int, commit.Lines)

	reading bool
	ins     uint64
	del     uint64
	files   uint64
}

func (p *numstat) line(line []byte) error {
	ins, rest, ok := bytes.Cut(line, []byte{'\t'})
	if !ok {
		return p.header(line)
	}
	del, _, ok := bytes.Cut(rest, []byte{'\t'})
	if !ok || !p.reading {
		return fmt.Errorf("git diff-tree printed %.80q", line)
	}
	p.files++
	if string(ins) == "-" && string(del) == "-" {
		return nil // binary: a file without lines
	}
	i, err1 := strconv.ParseUint(string(ins), 10, 32)
	d, err2 := strconv.ParseUint(string(del), 10, 32)
	if err := errors.Join(err1, err2); err != nil {
		return fmt.Errorf("git diff-tree printed %.80q: %w", line, err)
	}
	p.ins += i
	p.del += d
	return nil
}

// header begins the next commit. Commits that git does not have are left out
// silently by it, and so stay unknown.
func (p *numstat) header(hash []byte) error {
	p.flush()
	for i := p.next; i < len(p.hashes); i++ {
		if bytes.Equal(p.hashes[i], hash) {
			p.next, p.reading = i+1, true
			return nil
		}
	}
	return fmt.Errorf("git diff-tree printed %.80q", hash)
}

func (p *numstat) flush() {
	if p.reading && p.ins|p.del|p.files <= 1<<32-1 {
		p.result(p.next-1, commit.Lines{Insertions: uint32(p.ins), Deletions: uint32(p.del), Files: uint32(p.files)})
	}
	p.reading, p.ins, p.del, p.files = false, 0, 0, 0
}
