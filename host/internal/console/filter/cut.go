package filter

import (
	"context"
	"strconv"
	"strings"

	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

func cut() commands.Command {
	return commands.Command{
		Name: "cut", Summary: "some columns of each line",
		Help: "feature:list | cut -f 1,4\nWithout -d the columns are those of a table, or are divided by blanks.",
		Options: []commands.Option{
			{Name: "fields", Short: "f", Help: "numbers of the columns, from 1, divided by commas", Required: true},
			{Name: "delimiter", Short: "d", Help: "what divides the columns"},
		},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			var fields []int
			for _, f := range strings.Split(in.Option("fields"), ",") {
				n, err := strconv.Atoi(f)
				if err != nil || n < 1 || n > 1000 {
					return fault.At(fault.Invalid, in.Name, "a column is a number from 1 to 1000, not %q", f)
				}
				fields = append(fields, n)
			}
			sep := in.Option("delimiter")
			return each(ctx, in.Stdin, func(l string) (bool, error) {
				cells := divide(l, sep)
				var out []string
				for _, n := range fields {
					if n <= len(cells) {
						out = append(out, cells[n-1])
					}
				}
				join := sep
				if join == "" {
					join = "\t"
				}
				return true, line(in, strings.Join(out, join))
			})
		},
	}
}

func divide(l, sep string) []string {
	switch {
	case sep != "":
		return strings.Split(l, sep)
	case strings.Contains(l, "-+-"): // below the titles
		return strings.Split(l, "+")
	case !strings.Contains(l, " | "):
		return strings.Fields(l)
	}
	cells := strings.Split(l, "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}
