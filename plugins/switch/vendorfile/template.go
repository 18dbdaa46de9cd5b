package vendorfile

import (
	"fmt"
	"slices"
	"strings"

	"ctl.internal/internal/switchcli"
	"ctl.internal/sdk/switchdriver"
)

// Template is a command with ${tag}$ for values. {a|b} is the first of the alternatives
// whose tags all have values, or nothing; [a|b] the same, but one must have.
type Template struct{ parts []part }

// part is text, a tag, or a group.
type part struct {
	text, tag    string
	alternatives [][]part
	required     bool
}

// parseTemplate reads a template; tags are those it may have.
func parseTemplate(text string, tags []string) (Template, error) {
	if len(text) > maxText || !switchdriver.Printable(text) {
		return Template{}, fmt.Errorf("the command is not one line of printable ASCII")
	}
	p := templateParser{rest: text, tags: tags}
	alternatives, err := p.parseAlternatives("", 0)
	if err != nil {
		return Template{}, err
	}
	if len(alternatives) > 1 {
		return Template{}, fmt.Errorf("a | is outside of { } and [ ]")
	}
	return Template{alternatives[0]}, nil
}

type templateParser struct {
	rest string
	tags []string
}

// parseAlternatives reads up to the end of a group; end is its closing bracket, empty for all.
func (p *templateParser) parseAlternatives(end string, depth int) ([][]part, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("groups are nested deeper than %d", maxDepth)
	}
	out := [][]part{nil}
	add := func(x part) { out[len(out)-1] = append(out[len(out)-1], x) }
	for p.rest != "" {
		switch c := p.rest[:1]; {
		case strings.HasPrefix(p.rest, "${"):
			tag, rest, ok := strings.Cut(p.rest[2:], "}$")
			if !ok {
				return nil, fmt.Errorf("%.40q has no end; write ${tag}$", p.rest)
			}
			if !slices.Contains(p.tags, tag) {
				return nil, fmt.Errorf(
					"unknown tag ${%.40s}$; known here are %s",
					tag,
					strings.Join(p.tags, ", "),
				)
			}
			add(part{tag: tag})
			p.rest = rest
		case c == "{" || c == "[":
			p.rest = p.rest[1:]
			group, err := p.parseAlternatives(map[string]string{
				"{": "}",
				"[": "]",
			}[c], depth+1)
			if err != nil {
				return nil, err
			}
			add(part{alternatives: group, required: c == "["})
		case c == "|":
			out, p.rest = append(out, nil), p.rest[1:]
		case c == end && end != "":
			p.rest = p.rest[1:]
			return out, nil
		case c == "}" || c == "]":
			return nil, fmt.Errorf("%s closes nothing", c)
		default:
			n := 1
			for n < len(p.rest) && !strings.ContainsAny(p.rest[n:n+1], "${}[]|") {
				n++
			}
			add(part{text: p.rest[:n]})
			p.rest = p.rest[n:]
		}
	}
	if end != "" {
		return nil, fmt.Errorf("a %s is missing", end)
	}
	return out, nil
}

// Value is a value of a tag and where in the request it is from.
type Value struct{ Text, Field string }

// Expand makes the line. Tags without a value count as not given; each value must be one
// word. The error names the field of the request.
func (t Template) Expand(values map[string]Value) (string, error) {
	var words strings.Builder
	if err := expandParts(&words, t.parts, values); err != nil {
		return "", err
	}
	return switchcli.Line(strings.Fields(words.String())...)
}

func expandParts(to *strings.Builder, parts []part, values map[string]Value) error {
	for _, p := range parts {
		switch {
		case p.tag != "":
			v := values[p.tag]
			if v.Text == "" {
				return fmt.Errorf("the command needs ${%s}$, which is not given", p.tag)
			}
			word, err := switchcli.Word(v.Field, v.Text)
			if err != nil {
				return err
			}
			to.WriteString(word)
		case p.alternatives != nil:
			i := slices.IndexFunc(p.alternatives, func(a []part) bool {
				return hasAllTags(a, values)
			})
			if i < 0 && p.required {
				return fmt.Errorf("the command needs one of several values, none of which is given")
			}
			if i >= 0 {
				if err := expandParts(to, p.alternatives[i], values); err != nil {
					return err
				}
			}
		default:
			to.WriteString(p.text)
		}
	}
	return nil
}

// hasAllTags reports whether all tags have values that must have them.
func hasAllTags(parts []part, values map[string]Value) bool {
	for _, p := range parts {
		switch {
		case p.tag != "" && values[p.tag].Text == "":
			return false
		case p.required && !slices.ContainsFunc(p.alternatives, func(a []part) bool {
			return hasAllTags(a, values)
		}):
			return false
		}
	}
	return true
}

// tagsOf lists the tags of a template that is nothing but tags, in order; false: it has
// something else.
func tagsOf(t Template) (tags []string, ok bool) {
	for _, p := range t.parts {
		switch {
		case p.tag != "":
			tags = append(tags, p.tag)
		case p.alternatives != nil || strings.TrimSpace(p.text) != "":
			return nil, false
		}
	}
	return tags, len(tags) > 0
}
