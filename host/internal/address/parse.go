package address

import (
	"strings"

	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/host/internal/restconf"
	"ctl.internal/host/internal/restconf/tree"
)

// Kind says what sort of thing a path addresses.
type Kind uint8

// The kinds.
const (
	Other     Kind = iota // a page, a path of a plugin, a service
	Tree                  // data
	Operation             // an rpc
)

// Address is what a path addresses, however it is written.
type Address struct {
	Kind   Kind
	Module string   // of the data node at the top of the path, or of the operation; empty if it is not known
	Node   string   // name of the last data node, or of the operation
	Keys   []string // of that node, if it is an entry of a list
}

// Parse finds out what a path addresses.
func Parse(now *restconf.Installed, p reqpath.Path) Address {
	below, isOperation := operationBelow(p)
	if isOperation {
		return parseOperation(now, below)
	}
	depth := p.DataDepth()
	if depth == 0 || len(p.Segments()) == depth {
		return Address{}
	}
	path, err := tree.Parse(now.Schema, p.Segments()[depth:], now.Aliases.Module)
	if err != nil || len(path) == 0 {
		return Address{Kind: Tree}
	}
	last := path[len(path)-1]
	return Address{
		Kind:   Tree,
		Module: path[0].Node.Module,
		Node:   last.Node.Name,
		Keys:   last.Keys,
	}
}

// operationBelow is the last segment of the path of an operation.
func operationBelow(p reqpath.Path) (name string, is bool) {
	for _, root := range [][]string{{"restconf", "operations"}, {"rests", "operations"}, {"operations"}} {
		segments := p.Segments()
		if len(segments) == len(root)+1 && p.Under(root...) {
			return segments[len(root)].Decoded, true
		}
	}
	return "", false
}

func parseOperation(now *restconf.Installed, name string) Address {
	module, rpc, qualified := strings.Cut(name, ":")
	if !qualified {
		return Address{Kind: Operation, Node: name}
	}
	module, rpc, _ = now.Aliases.Resolve(module, rpc)
	return Address{Kind: Operation, Module: module, Node: rpc}
}
