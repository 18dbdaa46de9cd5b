package picks

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"

	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/plugins/repoinfo/turns"
)

// patcher reads what commits change. Its identifiers of patches are equal where git rev-list --cherry-mark finds
// equal ones, and that is all that counts of them: git's own depend on its version where files are binary. Commits
// that change nothing have no identifier here.
type patcher struct {
	ctx    context.Context
	repo   history.Repo
	turn   *turns.Turn
	unread int // commits that lack an object
}

// identify sets the identifiers of the patches that the two lists may have in common. First the names of files are
// compared, for which git reads trees alone; contents are read only where they are the same.
func (p *patcher) identify(a, b []Change) error {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	names, err := p.read(append(hashesOf(a), hashesOf(b)...), p.names)
	if err != nil {
		return err
	}
	both := func(list, others []Change) (shared []string) {
		has := map[string]bool{}
		for _, c := range others {
			has[names[c.Hash]] = true
		}
		for _, c := range list {
			if id := names[c.Hash]; id != "" && has[id] {
				shared = append(shared, c.Hash)
			}
		}
		return shared
	}
	ids, err := p.read(append(both(a, b), both(b, a)...), p.contents)
	if err != nil {
		return err
	}
	for _, list := range [][]Change{a, b} {
		for i := range list {
			list[i].PatchID = ids[list[i].Hash]
		}
	}
	return nil
}

func hashesOf(list []Change) (hashes []string) {
	for _, c := range list {
		hashes = append(hashes, c.Hash)
	}
	return hashes
}

// batch is how many commits one git reads.
const batch = 512

// reader reads what commits change, in order, and calls take for each with its identifier, empty if it changes nothing.
type reader func(hashes []string, take func(i int, id string)) error

// read calls a reader with batches of commits. Where git dies of a commit that lacks an object, it goes on with the
// next.
func (p *patcher) read(hashes []string, with reader) (map[string]string, error) {
	ids := map[string]string{}
	for len(hashes) > 0 {
		part := hashes[:min(batch, len(hashes))]
		done := 0
		err := with(part, func(i int, id string) {
			ids[part[i]] = id
			done = i + 1
		})
		switch _, died := gitcmd.ExitCode(err); {
		case err == nil:
			done = len(part)
		case p.ctx.Err() != nil:
			return nil, p.ctx.Err()
		case !died:
			return nil, err
		default:
			one := part[done : done+1]
			err := with(one, func(_ int, id string) { ids[one[0]] = id })
			_, died := gitcmd.ExitCode(err)
			if err != nil && !died {
				return nil, err
			} else if died {
				delete(ids, one[0])
				p.unread++
			}
			done++
		}
		hashes = hashes[done:]
		if p.turn != nil {
			if err := p.turn.Pause(p.ctx); err != nil {
				return nil, err
			}
		}
	}
	return ids, nil
}

// names identifies the files that commits change, and whether they are added, changed or deleted.
func (p *patcher) names(hashes []string, take func(i int, id string)) error {
	return p.differences(hashes, []string{"--name-status"}, func(line []byte, begins bool) []byte {
		if begins {
			return append([]byte{'\n'}, line...)
		}
		return line
	}, take)
}

// contents identifies the lines that commits change. As git-patch-id does, it leaves out blanks and the numbers of
// lines.
func (p *patcher) contents(hashes []string, take func(i int, id string)) error {
	var objects []byte // of the file that is read
	format := []string{
		"--patch",
		"--unified=3",
		"--full-index",
		"--no-ext-diff",
		"--no-textconv",
		"--diff-algorithm=myers",
		"--no-indent-heuristic", // git compares patches without it: so more of them are equal
		"--no-color",
	}
	return p.differences(hashes, format, func(line []byte, begins bool) []byte {
		if !begins {
			return withoutBlanks(line)
		}
		switch {
		case bytes.HasPrefix(line, []byte("index ")):
			objects = bytes.Clone(line)
			return nil
		case bytes.HasPrefix(line, []byte("Binary files ")):
			return append(withoutBlanks(line), objects...)
		case bytes.HasPrefix(line, []byte("@@ ")), bytes.HasPrefix(line, []byte(`\ `)): // `\ No newline at end of file`
			return nil
		}
		return withoutBlanks(line)
	}, take)
}

// differences runs diff-tree. normal makes of a line, or of a part of a very long one, what its commit is
// identified by.
func (p *patcher) differences(
	hashes, format []string,
	normal func(line []byte, begins bool) []byte,
	take func(i int, id string),
) error {
	args := []string{"diff-tree", "--stdin", "--always", "-r", "--root", "--no-renames", "--ignore-submodules=none"}
	call := gitcmd.Call{
		Dir:   p.repo.Dir,
		Args:  append(args, format...),
		Stdin: strings.Join(hashes, "\n") + "\n",
	}
	git, err := p.repo.Git.Start(p.ctx, call)
	if err != nil {
		return err
	}
	defer git.Close()
	in := bufio.NewReaderSize(git.Stdout, 64<<10)
	sum := sha256.New()
	at := -1
	some := false
	begins := true
	for {
		line, err := in.ReadSlice('\n')
		ends := err == nil
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return git.Ended(err)
		}
		line = bytes.TrimSuffix(line, []byte{'\n'})
		if begins && at+1 < len(hashes) && string(line) == hashes[at+1] {
			finish(at, some, sum, take)
			at, some = at+1, false
			continue
		}
		if at < 0 {
			return fmt.Errorf("git diff-tree printed %.80q before the first commit", line)
		}
		some = true
		_, _ = sum.Write(normal(line, begins)) // a hash takes everything
		begins = ends
	}
	if err := git.Wait(); err != nil {
		return err
	}
	finish(at, some, sum, take)
	return nil
}

// finish hands over what identifies the commit that was read.
func finish(at int, some bool, sum hash.Hash, take func(i int, id string)) {
	id := ""
	if some {
		id = hex.EncodeToString(sum.Sum(nil))
	}
	sum.Reset()
	if at >= 0 {
		take(at, id)
	}
}

func withoutBlanks(line []byte) []byte {
	kept := make([]byte, 0, len(line)+1)
	for _, c := range line {
		switch c {
		case ' ', '\t', '\r', '\v', '\f', '\n':
		default:
			kept = append(kept, c)
		}
	}
	return kept
}
