package history

import (
	"bufio"
	"context"
	"errors"
	"strconv"
	"strings"

	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/sdk/fault"
)

// Release is a tag in the history of a commit.
type Release struct {
	Name string // short, "v1.0"
	When int64  // when the tag was made, or its commit; seconds since the epoch
	hash string // its commit
}

// maxReleased bounds the memory of Releases, in commits.
const maxReleased = 2_000_000

// Releases lists the tags between two commits by their dates, base excluded (empty = all), and says for each commit
// which of them was the first that has it. Commits that no tag has are not in the map.
func (r Repo) Releases(ctx context.Context, tip, base string) ([]Release, map[string]int, error) {
	args := []string{"for-each-ref", "--merged=" + tip, "--sort=creatordate", "--format=%(creatordate:unix) %(objectname) %(*objectname) %(refname)"}
	if base != "" {
		args = append(args, "--no-merged="+base)
	}
	out, err := r.Git.Output(ctx, gitcmd.Call{
		Dir:  r.Dir,
		Args: append(args, "refs/tags/"),
	})
	if err != nil {
		return nil, nil, err
	}
	var list []Release
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		if len(f) != 4 {
			continue
		}
		when, _ := strconv.ParseInt(f[0], 10, 64) // a tag without a date is first
		rel := Release{
			Name: strings.TrimPrefix(f[3], "refs/tags/"),
			When: when,
			hash: f[1],
		}
		if f[2] != "" {
			rel.hash = f[2]
		}
		list = append(list, rel)
	}
	released := map[string]int{}
	var before strings.Builder // what releases before have
	if base != "" {
		before.WriteString("^" + base + "\n")
	}
	for i, rel := range list {
		err := r.commitsOf(ctx, rel.hash, before.String(), func(hash string) {
			released[hash] = i
		})
		if err != nil {
			return nil, nil, err
		}
		if len(released) > maxReleased {
			return nil, nil, fault.New(
				fault.TooBig,
				"project %s has releases of more than %d commits: choose another interval",
				r.Project,
				maxReleased,
			)
		}
		before.WriteString("^" + rel.hash + "\n")
	}
	return list, released, nil
}

// commitsOf calls take with the commits of one that others do not have.
func (r Repo) commitsOf(ctx context.Context, hash, without string, take func(hash string)) error {
	p, err := r.Git.Start(
		ctx,
		gitcmd.Call{
			Dir:   r.Dir,
			Args:  []string{"rev-list", "--stdin"},
			Stdin: hash + "\n" + without,
		},
	)
	if err != nil {
		return err
	}
	defer p.Close()
	lines := bufio.NewScanner(p.Stdout)
	for lines.Scan() {
		take(lines.Text())
	}
	return errors.Join(lines.Err(), p.Wait())
}
