package tree

import (
	"fmt"
	"hash/fnv"
	"strings"
)

// Ranks order the entries of user-ordered lists: hexadecimal fractions, compared
// byte by byte. None ends with a zero, so there is room between any two.
const rankDigits = "0123456789abcdef"

// appendRank returns a rank after all that were made before it: the revision of
// the transaction to come, the number within it, and something of the entry's
// key, because another transaction may be made at the same revision.
func (d *Draft) appendRank(key string) string {
	d.serial++
	h := fnv.New32a()
	h.Write([]byte(key))
	return fmt.Sprintf("%016x%08x%08x8", uint64(d.sn.Revision())+1, d.serial, h.Sum32())
}

// rankBetween returns a rank between low and high, which is greater; an empty
// text stands for no bound.
func rankBetween(low, high string) string {
	if high != "" {
		n := 0
		for n < len(high) && (n < len(low) && low[n] == high[n] || n >= len(low) && high[n] == '0') {
			n++
		}
		if n > 0 {
			return high[:n] + rankBetween(low[min(n, len(low)):], high[n:])
		}
	}
	l, h := 0, len(rankDigits)
	if low != "" {
		l = strings.IndexByte(rankDigits, low[0])
	}
	if high != "" {
		h = strings.IndexByte(rankDigits, high[0])
	}
	switch {
	case h-l > 1:
		return rankDigits[(l+h)/2 : (l+h)/2+1]
	case len(high) > 1:
		return high[:1]
	case low == "":
		return rankDigits[:1] + rankBetween("", "")
	}
	return rankDigits[l:l+1] + rankBetween(low[1:], "")
}
