package tree

import (
	"slices"
	"strings"

	iradix "github.com/hashicorp/go-immutable-radix/v2"
)

// keyIndex finds the changed documents below a prefix, of which there may be very many when
// many edits are one change. Few are looked through.
type keyIndex struct {
	fresh  []string // not in the tree yet
	tree   *iradix.Tree[struct{}]
	looked int // keys that were looked at, or put into the tree
}

// fewKeys are faster looked through than put into a tree.
const fewKeys = 32

func (x *keyIndex) addKey(key string) {
	x.fresh = append(x.fresh, key)
}

// keysBelow returns the keys with a prefix in order.
func (x *keyIndex) keysBelow(prefix string) (keys []string) {
	x.looked += len(x.fresh)
	if x.tree == nil && len(x.fresh) <= fewKeys {
		for _, key := range x.fresh {
			if strings.HasPrefix(key, prefix) {
				keys = append(keys, key)
			}
		}
		slices.Sort(keys)
		return keys
	}
	if x.tree == nil {
		x.tree = iradix.New[struct{}]()
	}
	if len(x.fresh) > 0 {
		t := x.tree.Txn()
		for _, key := range x.fresh {
			t.Insert([]byte(key), struct{}{})
		}
		x.tree, x.fresh = t.Commit(), x.fresh[:0]
	}
	x.tree.Root().WalkPrefix([]byte(prefix), func(key []byte, _ struct{}) bool {
		x.looked++
		keys = append(keys, string(key))
		return false
	})
	return keys
}
