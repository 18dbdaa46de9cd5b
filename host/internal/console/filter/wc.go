package filter

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"ctl.internal/sdk/commands"
)

func wc() commands.Command {
	return commands.Command{
		Name: "wc", Summary: "count lines, words and characters",
		Options: []commands.Option{
			flag("lines", "l", "only the lines"), flag("words", "w", "only the words"), flag("chars", "c", "only the characters"),
		},
		Run: func(ctx context.Context, in *commands.Invocation) error {
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
			counts := map[string]int{"lines": lines, "words": words, "chars": chars}
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
		},
	}
}
