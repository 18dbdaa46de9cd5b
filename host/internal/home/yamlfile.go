package home

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

var yamlLine = regexp.MustCompile(`line (\d+): `)

// parseYAML returns the only document of a file, nil when it is empty. Anchors
// and aliases are refused: settings have no use for them, and they can make a
// small file enormous.
func parseYAML(path string, b []byte) (root *yaml.Node, p *Problem) {
	defer func() {
		if r := recover(); r != nil { // the parser's own faults end here
			root, p = nil, &Problem{
				File: path,
				Text: fmt.Sprintf("not valid YAML: %v", r),
			}
		}
	}()
	var doc, second yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(b))
	switch err := dec.Decode(&doc); {
	case err == io.EOF:
		return nil, nil
	case err != nil:
		p := &Problem{
			File: path,
			Text: "not valid YAML: " + strings.TrimPrefix(err.Error(), "yaml: "),
		}
		if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
			p.Line, _ = strconv.Atoi(m[1])
			p.Text = strings.Replace(p.Text, m[0], "", 1)
		}
		if strings.Contains(p.Text, "cannot start any token") && bytes.ContainsRune(b, '\t') {
			p.Text += "; YAML is indented with blanks, never with tabs"
		}
		return nil, p
	}
	if err := dec.Decode(&second); err != io.EOF {
		return nil, &Problem{
			File: path,
			Line: second.Line,
			Text: "only one YAML document is read; remove the rest",
		}
	}
	if n := findAlias(&doc); n != nil {
		return nil, &Problem{
			File: path,
			Line: n.Line,
			Text: "anchors and aliases are not used in settings; write the value out",
		}
	}
	if len(doc.Content) == 0 || doc.Content[0].Tag == "!!null" {
		return nil, nil
	}
	return doc.Content[0], nil
}

func findAlias(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return n
	}
	for _, c := range n.Content {
		if found := findAlias(c); found != nil {
			return found
		}
	}
	return nil
}
