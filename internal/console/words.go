package console

import "strings"

// Quote returns a word so that a line of the console means exactly it.
func Quote(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\r\n|;'\"\\") && s[0] != '#' {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Join returns the line whose one command is exactly these words.
func Join(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = Quote(w)
	}
	return strings.Join(out, " ")
}
