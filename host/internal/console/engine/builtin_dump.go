package engine

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"os"
	"strings"

	"ctl.internal/internal/console"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// dumped are the lines whose output makes a report. None shows a secret.
var dumped = []string{"system:version", "system:info", "system:ready", "plugin:list", "feature:list", "feature:requirement-list", "feature:repo-list",
	"config:validate", "config:show --effective", "config:list", "realm:list", "cluster:status", "log:get", "log:display -n 2000 --own"}

// dumpReport writes one file for a bug report: what the commands of the console show.
func (s *Session) dumpReport(ctx context.Context, in *commands.Invocation) (err error) {
	f, err := os.OpenFile(in.Arg("file"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "%v", err)
	}
	z := zip.NewWriter(f)
	defer func() { err = errors.Join(err, z.Close(), f.Close()) }()
	lines := dumped
	if c, err := s.currentIndex().findCommand("", "plugin:info"); err == nil &&
		len(c.Arguments) > 0 &&
		c.Arguments[0].Complete != nil {
		for _, name := range c.Arguments[0].Complete(ctx, "") {
			lines = append(lines[:len(lines):len(lines)], "plugin:info "+console.Quote(name))
		}
	}
	defer in.Progress(commands.Progress{})
	x := s.currentIndex()
	for i, line := range lines {
		name, _, _ := strings.Cut(line, " ")
		if _, known := x.byName[name]; !known {
			continue
		}
		in.Progress(commands.Progress{
			Text:  "dump",
			Done:  int64(i),
			Total: int64(len(lines)),
		})
		var out bytes.Buffer
		s.Run(ctx, line, IO{Stdout: &out, Stderr: &out})
		w, err := z.Create(strings.NewReplacer(":", "-", " ", "_", "/", "_", "'", "").Replace(line) + ".txt")
		if err == nil {
			_, err = w.Write(out.Bytes())
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}
