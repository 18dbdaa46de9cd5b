package counts

import (
	"context"

	"ctl.internal/plugins/repoinfo/commit"
)

// Result takes the counts of the i-th commit, and its files when they are wanted.
type Result func(i int, l commit.Lines, files []commit.File)

// Counter counts commits. result is called at most once for each that could be counted.
type Counter interface {
	Count(ctx context.Context, hashes [][]byte, result Result) error
}

// Fill sets the counts of commits: what is known at once, what another caller counts
// right now when that is done, the rest through c. A commit that lacks an object gets
// the state Unknown.
func (s *Table) Fill(ctx context.Context, o Options, c Counter, commits []commit.Commit) error {
	for {
		if s.Look(o, commits) == 0 {
			return nil
		}
		mine, wait, done := s.claim(o.bucket(), commits)
		if len(mine) == 0 {
			select { // then look again: the other one may have given up
			case <-wait:
				continue
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		hashes := make([][]byte, len(mine))
		for n, i := range mine {
			hashes[n] = commits[i].Hash
		}
		err := c.Count(ctx, hashes, func(n int, l commit.Lines, _ []commit.File) {
			at := &commits[mine[n]]
			at.State, at.Lines = commit.Known, l
		})
		s.add(o.bucket(), commits, mine)
		done()
		if err != nil || wait == nil {
			return err
		}
	}
}

var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// claim takes the unknown commits that no other caller counts. wait is closed when one
// of the others is counted, nil if there is no such one.
func (s *Table) claim(
	bucket string,
	commits []commit.Commit,
) (mine []int, wait chan struct{}, done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ended := make(chan struct{})
	var keys []string
	for i := range commits {
		if commits[i].State == commit.Known {
			continue
		}
		if _, counted := s.fresh[bucket][string(commits[i].Hash)]; counted {
			wait = closed // since the caller looked
			continue
		}
		key := bucket + string(commits[i].Hash)
		if other := s.pending[key]; other != nil {
			wait = other
			continue
		}
		s.pending[key] = ended
		mine, keys = append(mine, i), append(keys, key)
	}
	return mine, wait, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, key := range keys {
			delete(s.pending, key)
		}
		close(ended)
	}
}
