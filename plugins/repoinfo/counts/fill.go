package counts

import (
	"context"

	"ctl.internal/plugins/repoinfo/commit"
)

// Counter counts commits that nobody has counted before. result is called once
// per commit that could be counted.
type Counter interface {
	Count(ctx context.Context, hashes [][]byte, result func(i int, l commit.Lines)) error
}

// Fill sets the counts of commits: those known at once, those that another
// caller counts right now when he has them, the rest through c. A commit that
// lacks an object gets the state Unknown.
func (p *Project) Fill(ctx context.Context, c Counter, commits []commit.Commit) error {
	open := make([]int, 0, len(commits))
	for i := range commits {
		open = append(open, i)
	}
	for len(open) > 0 {
		mine, wait, rest := p.claim(commits, open)
		if mine != nil {
			err := p.count(ctx, c, commits, mine)
			if err != nil {
				return err
			}
		}
		for _, b := range wait {
			select {
			case <-b.done:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		open = rest
	}
	return nil
}

type claimed struct {
	batch
	index  []int
	hashes [][]byte
	keys   []Key
}

// claim fills what is known, takes what nobody counts yet, and says whom to
// wait for. rest is what must be looked at again after the waiting.
func (p *Project) claim(commits []commit.Commit, open []int) (mine *claimed, wait []*batch, rest []int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, i := range open {
		c := &commits[i]
		key, ok := KeyOf(c.Hash)
		if !ok {
			c.State = commit.Unknown
			continue
		}
		if l, ok := p.table.get(&key); ok {
			c.State, c.Lines = commit.Known, l
			continue
		}
		if _, ok := p.missing[key]; ok {
			c.State = commit.Unknown
			continue
		}
		if b := p.pending[key]; b != nil {
			if len(wait) == 0 || wait[len(wait)-1] != b {
				wait = append(wait, b)
			}
			rest = append(rest, i)
			continue
		}
		if mine == nil {
			mine = &claimed{batch: batch{done: make(chan struct{})}}
		}
		p.pending[key] = &mine.batch
		mine.index = append(mine.index, i)
		mine.hashes = append(mine.hashes, c.Hash)
		mine.keys = append(mine.keys, key)
	}
	return mine, wait, rest
}

func (p *Project) count(ctx context.Context, c Counter, commits []commit.Commit, m *claimed) error {
	entries := make([]Entry, 0, len(m.keys))
	for _, i := range m.index {
		commits[i].State = commit.Unknown
	}
	err := c.Count(ctx, m.hashes, func(i int, l commit.Lines) {
		at := &commits[m.index[i]]
		at.State, at.Lines = commit.Known, l
		entries = append(entries, Entry{Key: m.keys[i], Lines: l})
	})
	p.Add(entries)

	p.mu.Lock()
	defer p.mu.Unlock()
	for n, key := range m.keys {
		delete(p.pending, key)
		if err == nil && commits[m.index[n]].State == commit.Unknown && len(p.missing) < maxMissing {
			p.missing[key] = struct{}{}
		}
	}
	close(m.done)
	return err
}
