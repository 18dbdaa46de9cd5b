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
		text, err := r.Git.Output(ctx, gitcmd.Call{Dir: r.Dir, Args: []string{"cat-file", "blob", o.Hash}})
		if err != nil {
			return nil, err
		}
		return Parse(Files[i], text)
	}
	return nil, fault.New(fault.NotFound, "project %s has neither %s nor %s", r.Project, Files[0], Files[1])
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
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, &fault.Error{Kind: fault.Malformed, Path: name, Text: "the file is no YAML: " + err.Error(),
			Cause: err}
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, fault.At(fault.Malformed, name, "the file holds no mapping at its top")
	}
	c := converter{file: name}
	v, err := c.value(doc.Content[0], 0)
	if err != nil {
		return nil, err
	}
	return v.(map[string]any), nil
}

type converter struct {
	file  string
	nodes int
}

func (c *converter) bad(n *yaml.Node, text string, args ...any) error {
	return fault.At(fault.Malformed, fmt.Sprintf("%s:%d", c.file, n.Line), text, args...)
}

func (c *converter) value(n *yaml.Node, depth int) (any, error) {
	c.nodes++
	if c.nodes > maxNodes || depth > maxDepth {
		return nil, c.bad(n, "the file is too large or too deep once its anchors are followed")
	}
	switch n.Kind {
	case yaml.AliasNode:
		return c.value(n.Alias, depth+1)
	case yaml.ScalarNode:
		return c.scalar(n)
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for _, item := range n.Content {
			v, err := c.value(item, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case yaml.MappingNode:
		return c.mapping(n, depth)
	}
	return nil, c.bad(n, "a part of the file is of no known kind")
}

func (c *converter) scalar(n *yaml.Node) (any, error) {
	switch n.ShortTag() {
	case "!!bool", "!!int", "!!float", "!!null":
		var v any
		if err := n.Decode(&v); err != nil {
			return nil, c.bad(n, "%q cannot be read: %v", n.Value, err)
		}
		if f, ok := v.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
			return n.Value, nil
		}
		return v, nil
	}
	return n.Value, nil
}

// mapping merges what "<<" names beneath the mapping's own keys.
func (c *converter) mapping(n *yaml.Node, depth int) (map[string]any, error) {
	m := map[string]any{}
	own := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			return nil, c.bad(key, "a key is not a simple word")
		}
		if key.ShortTag() == "!!merge" {
			if err := c.merge(m, value, depth); err != nil {
				return nil, err
			}
			continue
		}
		name := strings.ReplaceAll(key.Value, "_", "-")
		if own[name] {
			return nil, c.bad(key, "the key %q occurs twice", key.Value)
		}
		own[name] = true
		v, err := c.value(value, depth+1)
		if err != nil {
			return nil, err
		}
		m[name] = v
	}
	return m, nil
}

// merge adds keys that the mapping does not have yet. Own keys that follow
// replace them; own keys that came before win.
func (c *converter) merge(m map[string]any, from *yaml.Node, depth int) error {
	if depth > maxDepth {
		return c.bad(from, "the file is too deep once its anchors are followed")
	}
	switch from.Kind {
	case yaml.AliasNode:
		return c.merge(m, from.Alias, depth+1)
	case yaml.SequenceNode:
		for _, item := range from.Content {
			if err := c.merge(m, item, depth+1); err != nil {
				return err
			}
		}
		return nil
	case yaml.MappingNode:
		v, err := c.value(from, depth+1)
		if err != nil {
			return err
		}
		for key, value := range v.(map[string]any) {
			if _, there := m[key]; !there {
				m[key] = value
			}
		}
		return nil
	}
	return c.bad(from, "\"<<\" names no mapping")
}
