// Package yang turns YANG modules into schema trees and checks JSON against
// them: one pass reports every fault with its RFC 7951 path, fills defaults and
// gives the canonical form that plugins receive.
//
// All statements of RFC 7950 and RFC 6020 are compiled, so that no constraint of a
// module passes unchecked. A Set is immutable: when plugins come and go, a new Set
// is built from their files.
//
// Use package encoding/json for documents without a schema, and host/internal's
// restconf for what is stored and addressed by URL.
package yang

import "slices"

// Kind is the sort of a schema node (RFC 7950 section 4.2.2).
type Kind uint8

// The kinds. Input, Output and Notification behave like containers; Choice and
// Case never appear in data.
const (
	Container Kind = iota + 1
	List
	Leaf
	LeafList
	AnyData
	Choice
	Case
	Input
	Output
	Notification
	Root // the parent of all top-level data nodes of a Set
)

var kindNames = [...]string{
	Container:    "container",
	List:         "list",
	Leaf:         "leaf",
	LeafList:     "leaf-list",
	AnyData:      "anydata",
	Choice:       "choice",
	Case:         "case",
	Input:        "input",
	Output:       "output",
	Notification: "notification",
	Root:         "root",
}

// String returns the YANG keyword.
func (k Kind) String() string { return kindNames[k] }

// Node is one node of a compiled schema tree. It is immutable and safe for
// concurrent use.
type Node struct {
	Kind        Kind
	Name        string
	Module      string // the module whose namespace the node has (RFC 7951 section 4)
	Description string
	Config      bool // writable configuration, as opposed to state (RFC 7950 section 7.21.1)
	Mandatory   bool
	Presence    bool         // a container whose existence means something
	UserOrdered bool         // ordered-by user
	Min, Max    uint64       // of elements; Max is 1<<64-1 when unbounded
	Keys        []*Node      // of a list, in key order; empty = keyless
	Type        *Type        // of a leaf or leaf-list
	Default     []string     // lexical values as the module writes them; of a choice, the case
	Status      string       // "deprecated", "obsolete", or empty for current
	Annotations *Annotations // nil if there are no annotations
	Units       string
	Parent      *Node   // nil at the top
	Children    []*Node // as the module orders them, choices and cases included

	// Actions and Notifications are those that are bound to an instance of the node.
	Actions       []*RPC
	Notifications []*Node

	raw        *raw       // while it is compiled
	defined    *statement // where it is written
	defaultsAt []*statement
	gone       bool // by a deviation
	musts      []*constraint
	whens      []*constraint
	conditions []*constraint // its whens and those of the cases and choices that it is in
	elsewhere  bool
	listsHere  bool         // some members are lists with keys
	reading    []*condition // of a top-level node: what the conditions at and below it read
	constrains bool         // it, or something below it, has a must or when

	unique  [][][]*Node // of a list: groups of paths to leaves
	members []*Node     // data children, those of choices and cases included
	index   map[string]*Node
	key     bool // a key of the list it stands in
	secret  secrecy
	denies  bool    // Denies
	refers  bool    // HasReferences
	slot    int     // position in the members of the data parent
	choices []*Node // choices at this data level, nested ones after their parents
	choice  int     // position of a choice in the choices of the data parent
	need    []*Node // members and choices that matter when absent
	defs    []defaultValue
	bare    string // `"name":`
	full    string // `"module:name":`
	kept    string // one of the two: as canonical JSON names it below its parent
	opening string // <name>
	closing string // </name>
	spaces  *spaces
}

// Member returns the data child with a JSON member name: bare, or prefixed with
// its module's name. It returns nil for an unknown name.
func (n *Node) Member(name string) *Node {
	return n.index[name]
}

// Members returns the data children, those inside choices included, in schema
// order. The slice must not be changed.
func (n *Node) Members() []*Node { return n.members }

// IsList reports whether instances of the node are a JSON array.
func (n *Node) IsList() bool {
	return n.Kind == List || n.Kind == LeafList
}

// IsLeaf reports whether the node holds values rather than members.
func (n *Node) IsLeaf() bool {
	return n.Kind == Leaf || n.Kind == LeafList
}

// Keyed reports whether the node is a list with keys.
func (n *Node) Keyed() bool {
	return n.Kind == List && len(n.Keys) > 0
}

// HasReferences reports whether the node is a configured leafref to something that must exist, or has
// some below it.
func (n *Node) HasReferences() bool { return n.refers }

// Denies reports whether the node, or something below it, is denied by default (RFC 8341).
func (n *Node) Denies() bool { return n.denies }

// IsKey reports whether a leaf is a key of the list it stands in.
func (n *Node) IsKey() bool { return n.key }

// HasUnique reports whether a list has unique statements.
func (n *Node) HasUnique() bool { return len(n.unique) > 0 }

// DataParent returns the closest ancestor that appears in data, nil at the top.
func (n *Node) DataParent() *Node {
	p := n.Parent
	for p != nil && (p.Kind == Choice || p.Kind == Case) {
		p = p.Parent
	}
	return p
}

// DataNodes returns the closest nodes below n that appear in data: choices and cases are looked through.
func (n *Node) DataNodes() []*Node {
	var out []*Node
	for _, c := range n.Children {
		if c.Kind == Choice || c.Kind == Case {
			out = append(out, c.DataNodes()...)
		} else {
			out = append(out, c)
		}
	}
	return out
}

// QName returns the name as RFC 7951 section 4 writes it below a parent of
// another module: module:name.
func (n *Node) QName() string { return n.Module + ":" + n.Name }

// RPC is one rpc statement.
type RPC struct {
	Module, Name string
	Description  string
	Annotations  Annotations
	Input        *Node // never nil; without children when the rpc has no input
	Output       *Node // never nil

	qinput string // module:input
	arenas arenas
}

// NeedsInput reports whether a call without input is refused.
func (r *RPC) NeedsInput() bool {
	return slices.ContainsFunc(r.Input.need, isRequired)
}

// Module is one module of a Set.
type Module struct {
	Name, Revision, Namespace, Prefix string
	Description                       string
	Source                            string   // who ships it
	Implemented                       bool     // has data nodes, rpcs, notifications or augments of its own
	Data                              []*Node  // top-level data nodes
	RPCs                              []*RPC   // in the order of the module
	Notifications                     []*Node  // in the order of the module
	Features                          []string // all of them count as supported
	Submodules                        []Submodule
	Deviates                          bool   // it has deviations of other modules
	Text                              string // the YANG text
	Path                              string // the file
}

// Submodule is a part of a module in a text of its own.
type Submodule struct{ Name, Revision, Text string }

// Set is an immutable, compiled collection of modules.
type Set struct {
	// Root is the parent of the top-level data nodes of all modules: a member name
	// there must carry its module's name when two modules share it.
	Root    *Node
	modules []*Module
	byName  map[string]*Module
	rpcs    map[string]*RPC
}

// Modules returns all modules sorted by name and revision.
func (s *Set) Modules() []*Module { return s.modules }

// Module returns the module of a name, the newest revision; nil if unknown.
func (s *Set) Module(name string) *Module {
	return s.byName[name]
}

// RPC returns the rpc module:name, nil if it does not exist.
func (s *Set) RPC(module, name string) *RPC {
	return s.rpcs[module+":"+name]
}

// Data returns the top-level data node of a module, nil if it does not exist.
func (s *Set) Data(module, name string) *Node {
	if m := s.byName[module]; m != nil {
		return dataNode(m, name)
	}
	return nil
}

// Notification returns a module's notification, nil if it does not exist.
func (s *Set) Notification(module, name string) *Node {
	if m := s.byName[module]; m != nil {
		return findNamed(m.Notifications, name)
	}
	return nil
}

func findNamed(nodes []*Node, name string) *Node {
	for _, n := range nodes {
		if n.Name == name {
			return n
		}
	}
	return nil
}
