package filter

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"ctl.internal/sdk/commands"
)

func sortLines() commands.Command {
	return commands.Command{
		Name: "sort", Summary: "the lines in order",
		Options: []commands.Option{
			flag("reverse", "r", "the largest first"),
			flag("numeric", "n", "by the number at the beginning of the line"),
			flag("unique", "u", "equal lines once"),
		},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			lines, err := all(ctx, in.Stdin)
			if err != nil {
				return err
			}
			order := strings.Compare
			if in.Flag("numeric") {
				order = func(a, b string) int { return cmp.Or(cmp.Compare(number(a), number(b)), strings.Compare(a, b)) }
			}
			slices.SortStableFunc(lines, order)
			if in.Flag("unique") {
				lines = slices.Compact(lines)
			}
			if in.Flag("reverse") {
				slices.Reverse(lines)
			}
			return write(in, lines)
		},
	}
}

// number is the number a line begins with; a line without one sorts as 0.
func number(s string) float64 {
	s = strings.TrimLeft(s, " \t")
	end := 0
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || s[end] == '.' || end == 0 && s[end] == '-') {
		end++
	}
	f, _ := strconv.ParseFloat(s[:end], 64)
	return f
}

func uniq() commands.Command {
	return commands.Command{
		Name: "uniq", Summary: "of equal lines in a row only the first",
		Options: []commands.Option{flag("count", "c", "put how many before it")},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			last, n := "", 0
			flush := func() error {
				if n == 0 {
					return nil
				}
				if in.Flag("count") {
					in.Printf("%7d ", n)
				}
				return line(in, last)
			}
			err := each(ctx, in.Stdin, func(l string) (bool, error) {
				if n > 0 && l == last {
					n++
					return true, nil
				}
				err := flush()
				last, n = l, 1
				return true, err
			})
			if err != nil {
				return err
			}
			return flush()
		},
	}
}
