package tree

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

// checkTarget reports whether a place makes sense for a target.
func (pl Place) checkTarget(p Path) error {
	switch pl.Where {
	case "":
		if len(pl.Point) > 0 {
			return fault.New(fault.Invalid, "point is only for insert=before and insert=after")
		}
		return nil
	case "first", "last", "before", "after":
	default:
		return fault.New(
			fault.Invalid,
			"insert must be one of first, last, before and after, not %.40q",
			pl.Where,
		)
	}
	if !p.Entry() || !p.Node().UserOrdered {
		return fault.New(
			fault.Invalid,
			"insert is only for entries of lists that are ordered by the user; %s is not such a list",
			p,
		)
	}
	needs := pl.Where == "before" || pl.Where == "after"
	if needs != (len(pl.Point) > 0) {
		return fault.New(fault.Invalid, "point is only for insert=before and insert=after")
	}
	if needs &&
		(pl.Point.Node() != p.Node() || !pl.Point.Entry() || pl.Point[:len(pl.Point)-1].Key() != p[:len(p)-1].Key()) {
		return fault.New(fault.Invalid, "point must be an entry of the same list as the target")
	}
	if needs && pl.Point.Key() == p.Key() {
		return fault.New(fault.Invalid, "an entry cannot be placed next to itself")
	}
	return nil
}

func noPoint(pl Place) error {
	return &fault.Error{
		Kind:  fault.Invalid,
		Path:  pl.Point.String(),
		Text:  "the entry to insert at does not exist",
		Cause: yang.MissingInstance(),
	}
}

// rankFor returns the rank that the target of an edit gets; empty when its list is
// not ordered by the user.
func (d *Draft) rankFor(e Edit, exists bool) (string, error) {
	n := e.Path.Node()
	if n.Kind != yang.List || !n.UserOrdered {
		return "", nil
	}
	if e.Place.Where == "" && exists {
		doc, err := d.getDocument(e.Path.Key())
		if err != nil {
			return "", err
		}
		return doc.rank, nil
	}
	if e.Place.Where == "" || e.Place.Where == "last" {
		return d.appendRank(e.Path.Key()), nil
	}
	ranks, err := d.siblingRanks(e.Path)
	if err != nil {
		return "", err
	}
	if e.Place.Where == "first" {
		if len(ranks) == 0 {
			return d.appendRank(e.Path.Key()), nil
		}
		return rankBetween("", ranks[0]), nil
	}
	doc, err := d.getDocument(e.Place.Point.Key())
	if err != nil {
		return "", err
	}
	if doc == nil {
		return "", noPoint(e.Place)
	}
	i, _ := slices.BinarySearch(ranks, doc.rank)
	low, high := "", doc.rank
	if e.Place.Where == "after" {
		low, high = doc.rank, ""
		if i+1 < len(ranks) {
			high = ranks[i+1]
		}
	} else if i > 0 {
		low = ranks[i-1]
	}
	return rankBetween(low, high), nil
}

// siblingRanks returns the ranks of the other entries of a list, sorted.
func (d *Draft) siblingRanks(p Path) ([]string, error) {
	list := append(p[:len(p)-1:len(p)-1], Step{Node: p.Node()}).Key() + "="
	rows, err := d.documentsBelow(list)
	if err != nil {
		return nil, err
	}
	var ranks []string
	for _, r := range rows {
		if !strings.Contains(r.key[len(list):], "/") && r.key != p.Key() {
			ranks = append(ranks, r.doc.rank)
		}
	}
	slices.Sort(ranks)
	return ranks, nil
}

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
