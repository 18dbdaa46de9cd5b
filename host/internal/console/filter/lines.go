package filter

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"ctl.internal/internal/console"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

func grepCommand(ctx context.Context, in *commands.Invocation) error {
	pattern := in.Arg("pattern")
	if in.Flag("fixed-strings") {
		pattern = regexp.QuoteMeta(pattern)
	}
	if in.Flag("ignore-case") {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return fault.At(
			fault.Invalid,
			in.Name,
			"the pattern %q cannot be read (%v); -F takes it as plain text",
			in.Arg("pattern"),
			err,
		)
	}
	hits, number := 0, 0
	err = eachLine(ctx, in.Stdin, func(l string) (bool, error) {
		number++
		if re.MatchString(l) == in.Flag("invert-match") {
			return true, nil
		}
		hits++
		if in.Flag("count") {
			return true, nil
		}
		if in.Flag("line-number") {
			in.Printf("%d:", number)
		}
		return true, writeLine(in, l)
	})
	if err != nil {
		return err
	}
	if in.Flag("count") {
		in.Printf("%d\n", hits)
	}
	if hits == 0 {
		return console.Silent(console.Failed)
	}
	return nil
}

func cutCommand(ctx context.Context, in *commands.Invocation) error {
	var fields []int
	for _, f := range strings.Split(in.Option("fields"), ",") {
		n, err := strconv.Atoi(f)
		if err != nil || n < 1 || n > 1000 {
			return fault.At(
				fault.Invalid,
				in.Name,
				"a column is a number from 1 to 1000, not %q",
				f,
			)
		}
		fields = append(fields, n)
	}
	sep := in.Option("delimiter")
	return eachLine(ctx, in.Stdin, func(l string) (bool, error) {
		cells := splitColumns(l, sep)
		var out []string
		for _, n := range fields {
			if n <= len(cells) {
				out = append(out, cells[n-1])
			}
		}
		join := cmp.Or(sep, "\t")
		return true, writeLine(in, strings.Join(out, join))
	})
}

func splitColumns(l, sep string) []string {
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

func sortLines(ctx context.Context, in *commands.Invocation) error {
	lines, err := readAllLines(ctx, in.Stdin)
	if err != nil {
		return err
	}
	order := strings.Compare
	if in.Flag("numeric") {
		order = func(a, b string) int {
			return cmp.Or(cmp.Compare(leadingNumber(a), leadingNumber(b)), strings.Compare(a, b))
		}
	}
	slices.SortStableFunc(lines, order)
	if in.Flag("unique") {
		lines = slices.Compact(lines)
	}
	if in.Flag("reverse") {
		slices.Reverse(lines)
	}
	return writeLines(in, lines)
}

// leadingNumber is the number a line begins with; a line without one sorts as 0.
func leadingNumber(s string) float64 {
	s = strings.TrimLeft(s, " \t")
	end := 0
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || s[end] == '.' || end == 0 && s[end] == '-') {
		end++
	}
	f, _ := strconv.ParseFloat(s[:end], 64)
	return f
}

func uniqCommand(ctx context.Context, in *commands.Invocation) error {
	last, n := "", 0
	flush := func() error {
		if n == 0 {
			return nil
		}
		if in.Flag("count") {
			in.Printf("%7d ", n)
		}
		return writeLine(in, last)
	}
	err := eachLine(ctx, in.Stdin, func(l string) (bool, error) {
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
}

func wcCommand(ctx context.Context, in *commands.Invocation) error {
	var lines, words, chars int
	r, inWord := bufio.NewReader(in.Stdin), false
	for {
		c, _, err := r.ReadRune()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if chars++; chars%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if c == '\n' {
			lines++
		}
		if space := unicode.IsSpace(c); !space && !inWord {
			words++
			inWord = true
		} else if space {
			inWord = false
		}
	}
	counts := map[string]int{
		"lines": lines,
		"words": words,
		"chars": chars,
	}
	var shown []string
	for _, k := range []string{"lines", "words", "chars"} {
		if in.Flag(k) {
			shown = append(shown, fmt.Sprint(counts[k]))
		}
	}
	return in.Emit(counts, func() string {
		if shown == nil {
			return fmt.Sprintf("%7d %7d %7d\n", lines, words, chars)
		}
		return strings.Join(shown, " ") + "\n"
	})
}

// Pager is what the Terminal of an interactive session can do besides.
type Pager interface {
	// Page shows text a screen at a time, by the user's keys.
	Page(ctx context.Context, r io.Reader) error
}

func moreCommand(ctx context.Context, in *commands.Invocation) error {
	if p, ok := in.Terminal.(Pager); ok && in.Width > 0 {
		return p.Page(ctx, in.Stdin)
	}
	return eachLine(ctx, in.Stdin, func(l string) (bool, error) {
		return true, writeLine(in, l)
	})
}
