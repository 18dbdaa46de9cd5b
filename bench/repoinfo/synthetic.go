package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
)

// synthesizeHistory makes a history in one line: every commit changes a few lines of
// one file of about 80 lines.
func synthesizeHistory(ctx context.Context, dir string, commits int) error {
	fmt.Printf("making a history of %d commits\n", commits)
	if err := exec.CommandContext(ctx, "git", "init", "--quiet", "--bare", "--initial-branch=master",
		dir).Run(); err != nil {
		return err
	}
	cmd := exec.CommandContext(
		ctx,
		"git",
		"--git-dir="+dir,
		"fast-import",
		"--quiet",
		"--date-format=raw",
	)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	w := bufio.NewWriterSize(in, 1<<20)
	err = writeFastImport(w, commits)
	if err == nil {
		err = w.Flush()
	}
	_ = in.Close()
	if end := cmd.Wait(); err == nil {
		err = end
	}
	if err != nil {
		return err
	}
	return exec.CommandContext(
		ctx,
		"git",
		"--git-dir="+dir,
		"commit-graph",
		"write",
		"--reachable",
	).Run()
}

func writeFastImport(w io.Writer, commits int) error {
	r := rand.New(rand.NewPCG(1, 2))
	files := make([][]uint32, 1000)
	for i := range commits {
		f := i % len(files)
		if files[f] == nil {
			files[f] = make([]uint32, 80)
		}
		for range 1 + r.IntN(6) {
			files[f][r.IntN(80)] = r.Uint32()
		}
		text := ""
		for n, v := range files[f] {
			text += fmt.Sprintf("line %d of the file: %08x\n", n, v)
		}
		message := fmt.Sprintf(
			"Change number %d\n\nSome words about why the change was made, as people write them.\n\nChange-Id: I%040x\n",
			i,
			i,
		)
		_, err := fmt.Fprintf(w, "commit refs/heads/master\nauthor A%d <a%d@c%d.example> %d +0100\ncommitter B <b@example.org> %d +0000\ndata %d\n%s\nM 644 inline dir%d/file%d\ndata %d\n%s\n",
			i%300, i%300, i%40, 1_000_000_000+i*600, 1_000_000_000+i*600, len(message), message, f%30, f, len(text), text)
		if err != nil {
			return err
		}
	}
	return nil
}
