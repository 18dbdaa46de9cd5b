package history

import (
	"bufio"
	"io"

	"ctl.internal/plugins/repoinfo/commit"
)

// hashes reads a list of hashes, one a line, in runs.
func hashes(r io.Reader, take func([]commit.Commit) error) error {
	lines := bufio.NewScanner(r)
	var run []commit.Commit
	for lines.Scan() {
		run = append(run, commit.Commit{Hash: []byte(lines.Text())})
		if len(run) == 256 {
			if err := take(run); err != nil {
				return err
			}
			run = run[:0]
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if len(run) == 0 {
		return nil
	}
	return take(run)
}
