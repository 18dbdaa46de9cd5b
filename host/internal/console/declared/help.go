package declared

import (
	"cmp"
	"strings"

	"ctl.internal/internal/yang"
	"ctl.internal/sdk/commands"
)

// summary is the title of an RPC, or the first sentence of its description, for lists of commands.
func summary(r *yang.RPC) string {
	text := firstSentence(r.Description)
	if r.Annotations.Title != "" {
		text = r.Annotations.Title
	}
	if text == "" {
		return "call " + r.Module + ":" + r.Name
	}
	return strings.ToLower(text[:1]) + text[1:]
}

func firstSentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if first, _, more := strings.Cut(text, ". "); more {
		return first
	}
	return strings.TrimSuffix(text, ".")
}

// helpOf is the description of an input with its unit, range and default.
func helpOf(n *yang.Node) string {
	text := strings.TrimSuffix(strings.Join(strings.Fields(n.Description), " "), ".")
	if text == "" && n.Annotations != nil {
		text = n.Annotations.Title
	}
	text = cmp.Or(text, "of the input "+n.Name)
	var more []string
	if n.IsLeaf() {
		if unit := unitOf(n); unit != "" {
			more = append(more, "in "+unit)
		}
		if bounds := n.Type.Range(); bounds != "" {
			more = append(more, bounds)
		}
		if n.Secret() {
			more = append(more, "secret")
		}
	} else {
		more = append(more, "as JSON")
	}
	if n.Kind == yang.LeafList {
		more = append(more, "several: separated by commas in an option")
	}
	if len(n.Default) > 0 {
		more = append(more, strings.Join(n.Default, ",")+" when not given")
	}
	if len(more) > 0 {
		text += " (" + strings.Join(more, "; ") + ")"
	}
	return text
}

func unitOf(n *yang.Node) string {
	if n.Annotations != nil && n.Annotations.Unit != "" {
		return n.Annotations.Unit
	}
	return n.Units
}

// help is the long text: the description, and an example.
func help(c commands.Command, r *yang.RPC) string {
	var b strings.Builder
	if text := strings.TrimSpace(r.Description); text != "" {
		b.WriteString(text + "\n")
	}
	b.WriteString("Example: " + c.Name)
	for _, o := range c.Options {
		if o.Required {
			b.WriteString(" --" + o.Name + " " + sampleOf(r.Input.Member(o.Name)))
		}
	}
	for _, a := range c.Arguments {
		b.WriteString(" " + sampleOf(r.Input.Member(a.Name)))
	}
	return b.String()
}

// sampleOf is a value that an input may have.
func sampleOf(n *yang.Node) string {
	if !n.IsLeaf() {
		return "'{…}'"
	}
	if len(n.Default) > 0 {
		return n.Default[0]
	}
	t := n.Type.Final()
	switch low, _ := t.Bounds(); {
	case len(t.Names) > 0:
		return t.Names[0]
	case t.Base == yang.Boolean:
		return "true"
	case low != "" && !strings.HasPrefix(low, "-") && low != "0":
		return low
	case low != "":
		return "1"
	}
	return "my-" + n.Name
}
