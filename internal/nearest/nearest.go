// Package nearest finds what a user may have meant by a name that does not
// exist, for the "did you mean" of an error. Validation itself is elsewhere.
package nearest

import "strings"

// maxName bounds the work for a name that somebody else chose, in bytes.
const maxName = 256

// minPart is how much of a name says which is meant, in bytes.
const minPart = 4

// Name returns the known name closest to what was written, and whether it is
// close enough to be worth suggesting: one edit (insertion, deletion, exchange
// or swap of neighbours, ignoring case) for every three characters, at least
// one. Of several equally close ones it is the first in known. Where none is that
// close it is the shortest name that contains what was written, of which there must
// be four characters. It has no errors.
func Name(have string, known []string) (string, bool) {
	if len(have) == 0 || len(have) > maxName {
		return "", false
	}
	lower := strings.ToLower(have)
	best, allowed := "", max(1, len([]rune(lower))/3)
	for _, name := range known {
		if len(name) > maxName {
			continue
		}
		if d := editDistance(lower, strings.ToLower(name)); d <= allowed {
			best, allowed = name, d-1
		}
	}
	if best != "" || len(lower) < minPart {
		return best, best != ""
	}
	for _, name := range known {
		if len(name) <= maxName &&
			(best == "" || len(name) < len(best)) &&
			strings.Contains(strings.ToLower(name), lower) {
			best = name
		}
	}
	return best, best != ""
}

// Hint returns ` (did you mean "x"?)`, or nothing when no name is close.
func Hint(have string, known []string) string {
	if name, ok := Name(have, known); ok {
		return ` (did you mean "` + name + `"?)`
	}
	return ""
}

// editDistance counts edits, a swap of neighbours as one (optimal string alignment).
func editDistance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, last := make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i, r := range x {
		now := make([]int, len(y)+1)
		now[0] = i + 1
		for j, s := range y {
			cost := 1
			if r == s {
				cost = 0
			}
			now[j+1] = min(last[j]+cost, last[j+1]+1, now[j]+1)
			if i > 0 && j > 0 && r == y[j-1] && x[i-1] == s {
				now[j+1] = min(now[j+1], before[j-1]+1)
			}
		}
		before, last = last, now
	}
	return last[len(y)]
}
