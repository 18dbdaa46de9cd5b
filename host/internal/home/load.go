package home

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"ctl.internal/internal/nearest"
)

// maxConfig bounds a settings file, in bytes.
const maxConfig = 1 << 20

// Loaded are the settings in force and where each comes from.
type Loaded struct {
	Config
	effective []Effective
}

// Effective is one setting as `config show --effective` prints it.
type Effective struct {
	Key    string `json:"key"`
	Value  string `json:"value"`  // secrets are masked
	Origin string `json:"origin"` // default, etc/ctl.yaml:LINE, env NAME or flag --NAME
}

// Effective lists all settings in the order of the documentation.
func (l *Loaded) Effective() []Effective { return l.effective }

// Load reads the settings of a home: defaults, then etc/ctl.yaml, then the environment (as from
// os.Environ), then flags (dotted key → value, such as "listeners.http": ":0"). Every fault is
// returned; those of Fatal must stop the start, and the settings are the defaults then.
func Load(dir Dir, environ []string, flags map[string]string) (*Loaded, []Problem) {
	l := &Loaded{}
	path := dir.Etc("ctl.yaml")
	var doc yaml.Node
	var r *reader
	var schema any
	err := yaml.Unmarshal(schemaText, &doc)
	if err == nil {
		err = doc.Decode(&schema)
	}
	if err == nil {
		var text []byte
		if text, err = json.Marshal(schema); err == nil {
			r, err = newReader(path, text)
		}
	}
	if err != nil {
		return l, []Problem{{
			File: "ctl.schema.yaml",
			Text: err.Error(),
		}} // a fault of this program: every test fails
	}
	var problems []Problem
	var root *yaml.Node
	if dir != "" {
		var p *Problem
		if _, root, p = dir.readDocument("ctl"); p != nil {
			problems = append(problems, *p)
		}
	}
	leaves := leavesOf(doc.Content[0], nil)
	value := r.convertDocument(root)
	origins := map[string]string{}
	problems = append(problems, r.applyEnvironment(value, environ, leaves, origins)...)
	for _, key := range slices.Sorted(maps.Keys(flags)) {
		if loc := strings.Split(key, "."); slices.Contains(leaves, key) {
			r.setText(value, loc, flags[key], Problem{
				File: "flags",
				Key:  key,
			})
			origins[key] = "flag --" + loc[len(loc)-1]
		} else {
			problems = append(
				problems,
				Problem{
					File: "flags",
					Key:  key,
					Text: "no such setting" + nearest.Hint(key, leaves),
				},
			)
		}
	}
	text := r.finishValue(value)
	problems = append(problems, r.problems...)
	if text == nil {
		l.Config = Default()
	} else if err := json.Unmarshal(text, &l.Config); err != nil {
		problems = append(problems, Problem{
			File: path,
			Text: err.Error(),
		})
	}
	shared, _ := r.schemaAt([]string{"datastore", "engine"})["shared"].([]any)
	l.Datastore.Shared = slices.Contains(shared, any(l.Datastore.Engine))
	for _, key := range leaves {
		loc := strings.Split(key, ".")
		origin := "default"
		if o, ok := origins[key]; ok {
			origin = o
		} else if line, ok := r.lines[joinLocation(loc)]; ok {
			origin = fmt.Sprintf("etc/ctl.yaml:%d", line)
		}
		l.effective = append(
			l.effective,
			Effective{key, r.formatValue(r.schemaAt(loc), r.valueAt(loc)), origin},
		)
	}
	if dir != "" && Fatal(problems) == nil {
		before := len(r.problems)
		l.checkSettings(dir, func(key, format string, args ...any) {
			r.faultAt(strings.Split(key, "."), format, args...)
		})
		problems = append(problems, r.problems[before:]...)
	}
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return strings.Compare(a.File, b.File)
	})
	return l, problems
}

// leavesOf lists the settings of a schema, dotted and in its order.
func leavesOf(schema *yaml.Node, prefix []string) (out []string) {
	for i := 0; i+1 < len(schema.Content); i += 2 {
		if schema.Content[i].Value != "properties" {
			continue
		}
		members := schema.Content[i+1].Content
		for j := 0; j+1 < len(members); j += 2 {
			out = append(out, leavesOf(
				members[j+1],
				append(prefix[:len(prefix):len(prefix)], members[j].Value),
			)...)
		}
		return out
	}
	return []string{strings.Join(prefix, ".")}
}

// secretMask is shown in place of a secret.
const secretMask = "**********"

// formatValue is a value as show --effective prints it.
func (r *reader) formatValue(schema map[string]any, v any) string {
	switch x := r.showValue(schema, v).(type) {
	case []any:
		return "[" + strings.Join(textsOf(x), ", ") + "]"
	case map[string]any:
		return strings.TrimPrefix(fmt.Sprint(x), "map") // fmt sorts the keys
	case nil:
		return "[]" // only lists and mappings have no default
	default:
		return fmt.Sprint(x)
	}
}

// showValue is a value with its units, and without the secrets in it, however deep they are.
func (r *reader) showValue(schema map[string]any, v any) any {
	switch x := v.(type) {
	case json.Number:
		n, err := x.Int64()
		f, ok := formatOf(schema["format"])
		if ok && f.text != nil && err == nil {
			return f.text(n)
		}
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = r.showValue(r.memberSchema(schema, strconv.Itoa(i)), x[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(x))
		for name := range x {
			out[name] = r.showValue(r.memberSchema(schema, name), x[name])
		}
		return out
	case nil:
		return nil
	}
	if schema["writeOnly"] == true && v != "" {
		return secretMask
	}
	return v
}

// setText puts the text of a flag or a variable over the value of the file; lists and maps are YAML.
func (r *reader) setText(value any, loc []string, text string, place Problem) {
	schema := r.schemaAt(loc)
	r.places[joinLocation(loc)] = place
	node := yaml.Node{
		Kind:  yaml.ScalarNode,
		Tag:   "!!str",
		Value: text,
	}
	if schema["type"] != "string" {
		var doc yaml.Node
		err := yaml.Unmarshal([]byte(text), &doc)
		if err != nil || len(doc.Content) == 0 || findAlias(&doc) != nil {
			r.faultAt(loc, "%q is not YAML", text)
			return
		}
		node = *doc.Content[0]
	}
	m, ok := value.(map[string]any)
	for _, step := range loc[:len(loc)-1] {
		if !ok {
			return // the file has something else there, which is a fault by itself
		}
		next, there := m[step]
		if !there {
			next = map[string]any{}
			m[step] = next
		}
		m, ok = next.(map[string]any)
	}
	if ok {
		m[loc[len(loc)-1]] = r.convertNode(&node, schema, loc)
	}
}

// shortNames are the variables that the flags have, too.
var shortNames = map[string]string{
	"CTL_HTTP":     "listeners.http",
	"CTL_HTTPS":    "listeners.https",
	"CTL_SSH":      "listeners.ssh",
	"CTL_RESTCONF": "listeners.restconf",
	"CTL_ADMIN":    "listeners.admin",
}

// applyEnvironment sets what the environment says, and warns of names that are nearly a setting.
func (r *reader) applyEnvironment(
	value any,
	environ, leaves []string,
	origins map[string]string,
) (problems []Problem) {
	names := maps.Clone(shortNames)
	for _, key := range leaves {
		names[envVariableName(key)] = key
	}
	for _, kv := range slices.Sorted(slices.Values(environ)) {
		name, text, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, "CTL_") || text == "" {
			continue
		}
		key, ok := names[name]
		if !ok {
			hint, close := nearest.Name(name, slices.Sorted(maps.Keys(names)))
			if close && !otherVariable(name) {
				problems = append(
					problems,
					Problem{
						File:    "environment",
						Key:     name,
						Warning: true,
						Text:    fmt.Sprintf("not a setting; did you mean %s?", hint),
					},
				)
			}
			continue
		}
		r.setText(value, strings.Split(key, "."), text, Problem{
			File: "environment",
			Key:  name,
		})
		origins[key] = "env " + name
	}
	return problems
}

// envVariableName is the environment's name of a setting: limits.headerTimeout → CTL_LIMITS_HEADER_TIMEOUT.
func envVariableName(key string) string {
	var b strings.Builder
	b.WriteString("CTL_")
	for _, r := range key {
		switch {
		case r == '.':
			b.WriteByte('_')
		case unicode.IsUpper(r):
			b.WriteString("_" + string(r))
		default:
			b.WriteRune(unicode.ToUpper(r))
		}
	}
	return b.String()
}

// otherVariable are variables that mean something else.
func otherVariable(name string) bool {
	return slices.Contains(
		[]string{"CTL_HOME", "CTL_BIN", "CTL_ADMIN_PASSWORD", "CTL_USER_PASSWORD", "CTL_HOST_SOCKET"},
		name,
	) ||
		strings.HasPrefix(name, "CTL_TEST_")
}

// ReadBounded reads a file of at most so many bytes.
func ReadBounded(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", path)
	case info.Size() > most:
		return nil, fmt.Errorf("%s has %d bytes, at most %d are read", path, info.Size(), most)
	}
	return os.ReadFile(path)
}

// readDocument reads etc/NAME.yaml. The text is nil when there is no such file, the root also when there is nothing in it.
func (d Dir) readDocument(name string) (text []byte, root *yaml.Node, p *Problem) {
	path := d.Etc(name + ".yaml")
	text, err := ReadBounded(path, maxConfig)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, nil
	case err != nil:
		return nil, nil, &Problem{File: path, Text: err.Error()}
	}
	root, p = parseYAML(path, text)
	return text, root, p
}

// PluginConfig reads etc/NAME.yaml; an absent file is empty settings.
func (d Dir) PluginConfig(name string) (b []byte, path string, err error) {
	path = d.Etc(name + ".yaml")
	b, err = ReadBounded(path, maxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, path, nil
	}
	if err != nil {
		return nil, path, fmt.Errorf("home: %s: %w", path, err)
	}
	return b, path, nil
}
