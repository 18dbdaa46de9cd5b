package tree

import (
	"ctl.internal/host/internal/datastore"
	"ctl.internal/internal/yang"
)

// Owner returns the path of the document that holds the instance: the deepest list entry, or the
// top-level node.
func (p Path) Owner() Path { return p.owner() }

// DecodeStored reads a document as the datastore has it; p leads to it.
func DecodeStored(p Path, value []byte) (*yang.Data, error) {
	return Decode(p, &yang.Stored{Node: p.Node(), Text: decodeDocument(datastore.Entry{Value: value}).text})
}

// Descend follows steps down from an instance; nil when there is nothing.
func Descend(at *yang.Data, steps Path) *yang.Data {
	if at == nil {
		return nil
	}
	return descend(at, steps)
}
