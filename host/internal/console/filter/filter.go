// Package filter holds the shell's text filters (grep, head, sort …) as commands
// that read the output of the command before them.
package filter

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

const (
	maxLine = 1 << 20  // longest line in bytes
	maxHeld = 64 << 20 // what sort, tac and tail may keep in memory, in bytes
)

// Commands returns the filters under a scope.
func Commands(scope string) []commands.Command {
	table := []commands.Command{
		{
			Name:    "grep",
			Summary: "the lines that match a pattern",
			Run:     grepCommand,
			Help:    "The pattern is a regular expression in RE2 syntax. Without a matching line the exit code is 1.",
			Options: []commands.Option{
				boolOption("ignore-case", "i", "upper and lower case are the same"),
				boolOption("invert-match", "v", "the lines that do not match"),
				boolOption("line-number", "n", "put the number of the line before it"),
				boolOption("count", "c", "only say how many"),
				boolOption("fixed-strings", "F", "the pattern is plain text"),
				boolOption("extended-regexp", "E", "as always: for those who are used to it"),
			},
			Arguments: []commands.Argument{{
				Name:     "pattern",
				Help:     "what to look for",
				Required: true,
			}},
		},
		{
			Name:    "head",
			Summary: "the first lines",
			Options: []commands.Option{linesOption},
			Run:     headCommand,
		},
		{
			Name:    "tail",
			Summary: "the last lines",
			Options: []commands.Option{linesOption},
			Run:     tailCommand,
		},
		{
			Name:    "sort",
			Summary: "the lines in order",
			Run:     sortLines,
			Options: []commands.Option{
				boolOption("reverse", "r", "the largest first"),
				boolOption("numeric", "n", "by the number at the beginning of the line"),
				boolOption("unique", "u", "equal lines once"),
			},
		},
		{
			Name:    "uniq",
			Summary: "of equal lines in a row only the first",
			Run:     uniqCommand,
			Options: []commands.Option{boolOption("count", "c", "put how many before it")},
		},
		{
			Name:    "wc",
			Summary: "count lines, words and characters",
			Run:     wcCommand,
			Options: []commands.Option{
				boolOption("lines", "l", "only the lines"), boolOption("words", "w", "only the words"), boolOption("chars", "c", "only the characters"),
			},
		},
		{
			Name:    "more",
			Summary: "show a screen at a time",
			Run:     moreCommand,
			Help:    "Blank shows the next screen, Enter the next line, q ends. Without a terminal everything is written at once.",
		},
		{
			Name:    "tac",
			Summary: "the lines in reverse order",
			Run:     tacCommand,
		},
		{
			Name:    "cut",
			Summary: "some columns of each line",
			Run:     cutCommand,
			Help:    "feature:list | cut -f 1,4\nWithout -d the columns are those of a table, or are divided by blanks.",
			Options: []commands.Option{
				{
					Name:     "fields",
					Short:    "f",
					Help:     "numbers of the columns, from 1, divided by commas",
					Required: true,
				},
				{
					Name:  "delimiter",
					Short: "d",
					Help:  "what divides the columns",
				},
			},
		},
	}
	for i := range table {
		table[i].Name = scope + ":" + table[i].Name
		table[i].Safe = true
	}
	return table
}

// eachLine calls f for every line without its end, until f says stop.
func eachLine(ctx context.Context, r io.Reader, f func(line string) (more bool, err error)) error {
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 0, 4096), maxLine)
	for sc.Scan() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if more, err := f(sc.Text()); err != nil || !more {
			return err
		}
	}
	if errors.Is(sc.Err(), bufio.ErrTooLong) {
		return fault.New(fault.TooBig, "a line is longer than %d bytes", maxLine)
	}
	return sc.Err()
}

// readAllLines reads every line, within maxHeld.
func readAllLines(ctx context.Context, r io.Reader) ([]string, error) {
	var lines []string
	held := 0
	err := eachLine(ctx, r, func(l string) (bool, error) {
		if held += len(l) + 16; held > maxHeld {
			return false, fault.New(
				fault.TooBig,
				"the text is larger than %d MiB; reduce it with grep or head first",
				maxHeld>>20,
			)
		}
		lines = append(lines, l)
		return true, nil
	})
	return lines, err
}

func writeLines(in *commands.Invocation, lines []string) error {
	for _, l := range lines {
		if err := writeLine(in, l); err != nil {
			return err
		}
	}
	return nil
}

func writeLine(in *commands.Invocation, l string) error {
	_, err := fmt.Fprintln(in.Stdout, l)
	return err
}

// lineCountOption is the option -n of head and tail, as -n 5 or as the argument -5.
func lineCountOption(in *commands.Invocation) (int, error) {
	text := in.Option("lines")
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > 1e6 {
		return 0, fault.At(
			fault.Invalid,
			in.Name,
			"the number of lines must be from 0 to 1000000, not %s",
			text,
		)
	}
	return n, nil
}

var linesOption = commands.Option{
	Name:    "lines",
	Short:   "n",
	Help:    "how many lines",
	Type:    commands.Int,
	Default: "10",
}

func boolOption(name, short, help string) commands.Option {
	return commands.Option{
		Name:  name,
		Short: short,
		Help:  help,
		Type:  commands.Bool,
	}
}

func headCommand(ctx context.Context, in *commands.Invocation) error {
	n, err := lineCountOption(in)
	if err != nil || n == 0 {
		return err
	}
	return eachLine(ctx, in.Stdin, func(l string) (bool, error) {
		n--
		return n > 0, writeLine(in, l)
	})
}

func tailCommand(ctx context.Context, in *commands.Invocation) error {
	n, err := lineCountOption(in)
	if err != nil {
		return err
	}
	var keep []string
	err = eachLine(ctx, in.Stdin, func(l string) (bool, error) {
		if keep = append(keep, l); len(keep) > 2*n+1024 {
			keep = slices.Clone(keep[len(keep)-n:])
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	return writeLines(in, keep[max(0, len(keep)-n):])
}

func tacCommand(ctx context.Context, in *commands.Invocation) error {
	lines, err := readAllLines(ctx, in.Stdin)
	if err != nil {
		return err
	}
	slices.Reverse(lines)
	return writeLines(in, lines)
}
