package switchcli

import (
	"strings"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// maxLine is the longest line that is typed, in octets. D-Link switches take 255 or more.
const maxLine = 1000

// maxWord is the longest value within a line, in octets.
const maxWord = 255

// Word checks that a value can be typed as one word of a command: 1 to 255 letters,
// digits and _ . : / , + - @ = and nothing that a command line gives a meaning to
// (blanks, quotes, line ends, ? ! ; | # $ and the like). field is the path of the fault.
func Word(field, value string) (string, error) {
	switch {
	case value == "":
		return "", fault.At(fault.Missing, field, "%s is missing", field)
	case len(value) > maxWord:
		return "", fault.At(
			fault.Invalid,
			field,
			"%d octets are more than the %d of a word",
			len(value),
			maxWord,
		)
	}
	for i := range len(value) {
		if !wordByte(value[i]) {
			return "", fault.At(
				fault.Invalid,
				field,
				"%.40q cannot be typed at a switch's command line; use letters, digits and _ . : / , + - @ =",
				value,
			)
		}
	}
	return value, nil
}

func wordByte(c byte) bool {
	return 'a' <= c && c <= 'z' ||
		'A' <= c && c <= 'Z' ||
		'0' <= c && c <= '9' ||
		strings.IndexByte("_.:/,+-@=", c) >= 0
}

// Line joins the words of a command with single blanks. It fails with fault.Invalid
// if what comes out is not one line of printable ASCII, or has a ? which many switches
// answer at once, before the line's end.
func Line(words ...string) (string, error) {
	line := strings.Join(words, " ")
	if err := checkLine(line); err != nil {
		return "", err
	}
	return line, nil
}

func checkLine(line string) error {
	if len(line) > maxLine {
		return fault.New(
			fault.Invalid,
			"a line of %d octets is longer than the %d that are typed",
			len(line),
			maxLine,
		)
	}
	if !switchdriver.Printable(line) || strings.Contains(line, "?") {
		return fault.New(fault.Invalid, "%.80q is not one line that can be typed at a switch", line)
	}
	return nil
}

// Reason is what a switch says to a command that it does not carry out, in one line
// of printable characters: what it repeats of the command is left out.
func Reason(text string) string {
	var said []string
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(strings.Map(func(r rune) rune {
			if r < ' ' || r > '~' {
				return -1
			}
			return r
		}, line))
		if line != "" && !strings.HasPrefix(line, "Command:") {
			said = append(said, line)
		}
	}
	out := strings.Join(said, " / ")
	if len(out) > 200 {
		out = out[:200] + "…"
	}
	if out == "" {
		return "nothing"
	}
	return out
}
