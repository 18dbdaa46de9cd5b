// Package meta reads the file about a project in its own repository: PROJECT_INFO.yaml,
// or the INFO.yaml that took its place. It may come from anybody who can push, so
// anchors, depth and size are bounded.
package meta

import (
	"context"
	"fmt"
	"math"
	"strings"

	"go.yaml.in/yaml/v3"

	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/sdk/fault"
)

// Files are the names looked for in the root of a branch, the first one first.
var Files = [...]string{"PROJECT_INFO.yaml", "INFO.yaml"}

// Read returns the meta information in the tree of a commit.
func Read(ctx context.Context, r history.Repo, commit string) (map[string]any, error) {
	objects, err := r.Objects(ctx, commit+":"+Files[0], commit+":"+Files[1])
	if err != nil {
		return nil, err
	}
	for i, o := range objects {
		if o.Kind != "blob" {
			continue
		}
		if o.Size > MaxBytes {
			return nil, tooLong(Files[i])
		}
		text, err := r.Git.Output(
			ctx,
			gitcmd.Call{
				Dir:  r.Dir,
				Args: []string{"cat-file", "blob", o.Hash},
			},
		)
		if err != nil {
			return nil, err
		}
		return Parse(Files[i], text)
	}
	return nil, fault.New(
		fault.NotFound,
		"project %s has neither %s nor %s",
		r.Project,
		Files[0],
		Files[1],
	)
}

// Bounds of one file. Aliases count each time they are used.
const (
	MaxBytes = 1 << 20
	maxNodes = 50_000
	maxDepth = 50
)

func tooLong(name string) error {
	return fault.At(fault.Malformed, name, "the file is longer than %d KiB", MaxBytes>>10)
}

// Parse turns a file into values for JSON. Keys are spelled with hyphens
// whichever way the file has them; dates stay as they are written.
func Parse(name string, text []byte) (map[string]any, error) {
	if len(text) > MaxBytes {
		return nil, tooLong(name)
	}
	unreadable := func(err error) error {
		return &fault.Error{
			Kind:  fault.Malformed,
			Path:  name,
			Text:  "the file is no YAML: " + err.Error(),
			Cause: err,
		}
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, unreadable(err)
	}
	if doc.Kind != yaml.DocumentNode ||
		len(doc.Content) != 1 ||
		doc.Content[0].Kind != yaml.MappingNode {
		return nil, fault.At(fault.Malformed, name, "the file holds no mapping at its top")
	}
	c := checker{file: name, sizes: map[*yaml.Node]int{}}
	if err := c.checkNode(doc.Content[0], 0); err != nil {
		return nil, err
	}
	m := map[string]any{}
	if err := doc.Content[0].Decode(&m); err != nil {
		return nil, unreadable(err)
	}
	return m, nil
}

type checker struct {
	file  string
	sizes map[*yaml.Node]int // of what was checked: nodes once its anchors are followed
}

func (c *checker) malformedAt(n *yaml.Node, text string, args ...any) error {
	return fault.At(fault.Malformed, fmt.Sprintf("%s:%d", c.file, n.Line), text, args...)
}

// checkNode bounds a node, and makes strings of what JSON has no form for.
func (c *checker) checkNode(n *yaml.Node, depth int) error {
	size := 1
	switch n.Kind {
	case yaml.AliasNode:
		if size = c.sizes[n.Alias]; size == 0 {
			return c.malformedAt(n, "an anchor is used inside of itself")
		}
	case yaml.ScalarNode:
		switch n.ShortTag() {
		case "!!bool", "!!int", "!!null", "!!merge":
		case "!!float":
			var f float64
			err := n.Decode(&f)
			if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
				n.Tag = "!!str"
			}
		default:
			n.Tag = "!!str"
		}
	case yaml.MappingNode:
		if err := c.hyphenateKeys(n); err != nil {
			return err
		}
	}
	for _, part := range n.Content {
		if err := c.checkNode(part, depth+1); err != nil {
			return err
		}
		size += c.sizes[part]
	}
	if size > maxNodes || depth > maxDepth {
		return c.malformedAt(n, "the file is too large or too deep once its anchors are followed")
	}
	c.sizes[n] = size
	return nil
}

// hyphenateKeys spells the keys of a mapping with hyphens.
func (c *checker) hyphenateKeys(n *yaml.Node) error {
	own := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case key.Kind != yaml.ScalarNode:
			return c.malformedAt(key, "a key is not a simple word")
		case key.ShortTag() == "!!merge":
			if n.Content[i+1].Kind == yaml.ScalarNode {
				return c.malformedAt(key, "\"<<\" names no mapping")
			}
			continue
		}
		key.Tag, key.Value = "!!str", strings.ReplaceAll(key.Value, "_", "-")
		if own[key.Value] {
			return c.malformedAt(key, "the key %q is there twice", key.Value)
		}
		own[key.Value] = true
	}
	return nil
}
