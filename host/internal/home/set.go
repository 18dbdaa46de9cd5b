package home

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// secretWords are what the key of a setting contains when its value is not shown.
var secretWords = []string{"password", "pwd", "secret", "community", "token", "passphrase", "webhook.url"}

// Settings lists what etc/NAME.yaml sets, in its order; secrets are masked. An absent file sets nothing.
func (d Dir) Settings(name string) ([]Effective, error) {
	_, root, p := d.readDocument(name)
	if p != nil {
		return nil, errors.New(p.String())
	}
	if root == nil {
		return nil, nil
	}
	var out []Effective
	var walk func(n *yaml.Node, key string)
	walk = func(n *yaml.Node, key string) {
		if n.Kind == yaml.MappingNode && len(n.Content) > 0 {
			for i := 0; i+1 < len(n.Content); i += 2 {
				walk(n.Content[i+1], strings.TrimPrefix(key+"."+n.Content[i].Value, "."))
			}
			return
		}
		out = append(
			out,
			Effective{key, maskValue(n, key), fmt.Sprintf("etc/%s.yaml:%d", name, n.Line)},
		)
	}
	walk(root, "")
	return out, nil
}

// maskValue is a value on one line, without the secrets in it.
func maskValue(n *yaml.Node, key string) string {
	if secretKey(key) && n.Value != "" {
		return secretMask
	}
	switch n.Kind {
	case yaml.SequenceNode:
		var list []string
		for _, c := range n.Content {
			list = append(list, maskValue(c, key))
		}
		return "[" + strings.Join(list, ", ") + "]"
	case yaml.MappingNode:
		var list []string
		for i := 0; i+1 < len(n.Content); i += 2 {
			list = append(
				list,
				n.Content[i].Value+": "+maskValue(n.Content[i+1], n.Content[i].Value),
			)
		}
		return "{" + strings.Join(list, ", ") + "}"
	}
	return n.Value
}

func secretKey(key string) bool {
	return slices.ContainsFunc(secretWords, func(w string) bool {
		return strings.Contains(strings.ToLower(key), w)
	})
}

// Set gives a dotted key of etc/NAME.yaml a value, which is YAML, and keeps the comments. undo puts the file back as it
// was.
func (d Dir) Set(name, key, value string) (undo func() error, err error) {
	path := d.Etc(name + ".yaml")
	before, root, p := d.readDocument(name)
	if p != nil {
		return nil, errors.New(p.String())
	}
	undo = func() error { return WriteFile(path, before, 0o600) }
	if before == nil {
		undo = func() error { return os.Remove(path) }
	}
	var given yaml.Node
	if err := yaml.Unmarshal([]byte(value), &given); err != nil ||
		len(given.Content) == 0 ||
		findAlias(&given) != nil {
		return nil, fmt.Errorf("the value %q of %s is not YAML", value, key)
	}
	var doc yaml.Node
	var b bytes.Buffer
	if root == nil { // what is there is comments, which the parser does not keep
		b.Write(before)
		doc = yaml.Node{
			Kind:    yaml.DocumentNode,
			Content: []*yaml.Node{{Kind: yaml.MappingNode}},
		}
	} else if err := yaml.Unmarshal(before, &doc); err != nil {
		return nil, err
	}
	root = doc.Content[0]
	at := root
	for _, step := range strings.Split(key, ".") {
		if at.Kind != yaml.MappingNode {
			return nil, fmt.Errorf("%s: %s is below a setting without members", path, key)
		}
		var next *yaml.Node
		for i := 0; i+1 < len(at.Content); i += 2 {
			if at.Content[i].Value == step {
				next = at.Content[i+1]
			}
		}
		if next == nil {
			next = &yaml.Node{Kind: yaml.MappingNode}
			at.Content = append(at.Content, &yaml.Node{
				Kind:  yaml.ScalarNode,
				Value: step,
			}, next)
		}
		at = next
	}
	v := given.Content[0]
	at.Kind, at.Tag, at.Value, at.Content, at.Style = v.Kind, v.Tag, v.Value, v.Content, v.Style
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(&doc), enc.Close()); err != nil {
		return nil, err
	}
	return undo, WriteFile(path, b.Bytes(), 0o600)
}
