// Command repoinfo measures the repository-information plugin against git
// itself on one repository, and prints a table. README.md says how to run it.
package main

import (
	"context"
	"flag"
	"os"
	"path/filepath"

	"ctl.internal/bench/rig"
)

func main() {
	repo := flag.String(
		"repo",
		"",
		"bare repository (NAME.git) to measure; empty = a synthetic one is made",
	)
	branch := flag.String("branch", "", "branch to list; empty = master or HEAD")
	commits := flag.Int("commits", 100_000, "length of the synthetic history")
	rounds := flag.Int("rounds", 3, "the best of so many rounds counts")
	verify := flag.Bool("verify", false, "compare every number with git's instead of measuring")
	serve := flag.String("serve", "", "internal: serve this folder of clones")
	data := flag.String("data", "", "internal: data directory of the server")
	flag.Parse()
	rig.Main(func(ctx context.Context) error {
		return runComparison(ctx, *serve, *data, *repo, *branch, *commits, *rounds, *verify)
	})
}

func runComparison(
	ctx context.Context,
	serveDir, data, repo, branch string,
	commits, rounds int,
	verify bool,
) error {
	if serveDir != "" {
		return servePlugin(ctx, serveDir, data)
	}
	tmp, err := os.MkdirTemp("", "bench-repoinfo-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	if repo == "" {
		repo = filepath.Join(tmp, "synthetic.git")
		if err := synthesizeHistory(ctx, repo, commits); err != nil {
			return err
		}
	}
	if repo, err = filepath.Abs(repo); err != nil {
		return err
	}
	m := &measure{
		repo:   repo,
		branch: branch,
		rounds: rounds,
		tmp:    tmp,
	}
	if verify {
		return m.verifyNumbers(ctx)
	}
	return m.measureAll(ctx)
}
