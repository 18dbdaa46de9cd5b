package filter

import (
	"context"
	"regexp"

	"ctl.internal/internal/console"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

func grep() commands.Command {
	return commands.Command{
		Name: "grep", Summary: "the lines that match a pattern",
		Help: "The pattern is a regular expression in RE2 syntax. Without a matching line the exit code is 1.",
		Options: []commands.Option{
			flag("ignore-case", "i", "upper and lower case are the same"),
			flag("invert-match", "v", "the lines that do not match"),
			flag("line-number", "n", "put the number of the line before it"),
			flag("count", "c", "only say how many"),
			flag("fixed-strings", "F", "the pattern is plain text"),
			flag("extended-regexp", "E", "as always: for those who are used to it"),
		},
		Arguments: []commands.Argument{{Name: "pattern", Help: "what to look for", Required: true}},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			pattern := in.Arg("pattern")
			if in.Flag("fixed-strings") {
				pattern = regexp.QuoteMeta(pattern)
			}
			if in.Flag("ignore-case") {
				pattern = "(?i)" + pattern
			}
			re, err := regexp.Compile(pattern)
			if err != nil {
				return fault.At(fault.Invalid, in.Name, "the pattern %q cannot be read (%v); -F takes it as plain text", in.Arg("pattern"), err)
			}
			hits, number := 0, 0
			err = each(ctx, in.Stdin, func(l string) (bool, error) {
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
				return true, line(in, l)
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
		},
	}
}
