package ctlclient

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"go.yaml.in/yaml/v3"

	"ctl.internal/internal/console"
)

// change is a step that brings the controller nearer to what a file says.
type change struct {
	what  string   // one line, "+ feature ctl-switch-all"
	diff  []string // lines of - and +
	words []string // the command that makes it
	body  []byte   // its standard input
}

// member is a member of a file for ctl apply. changes compares its value with what the controller has.
type member struct {
	name, help string
	changes    func(l *link, value any) ([]change, error)
	others     func(l *link, values []any) ([]change, error) // removes what none of the files names; nil: nothing
}

// listMembers in the order in which they are applied: features bring the modules that the rest needs.
func listMembers() []member {
	return []member{
		{"features", "names of features that are to be installed", featureChanges, nil},
		{"switches", "the whole switch list: node-ip, node-mac, community, cli-user-name, cli-password, model of each", switchChanges, nil},
		{"topologies", "BIER topologies, as in bier-topology:bier-network-topology", listOf(
			"bier-topology:bier-network-topology",
			"bier-topology",
		),
			othersOf("bier-topology:bier-network-topology", "bier-topology")},
		{"channels", "channels of topologies, as in bier-channel:bier-network-channel", listOf(
			"bier-channel:bier-network-channel",
			"bier-channel",
		),
			othersOf("bier-channel:bier-network-channel", "bier-channel")},
		{memberPlan, "VLANs and ports of many switches, as in docs/switch-operations.md; it is applied and waited for", planChanges, nil},
		{"policies", "all dynamic policies, as in aaa:http-authorization", policyChanges, nil},
		{"data", "any configuration: /rests/data/… to the JSON of that resource, null where there is to be none", dataChanges, nil},
	}
}

func featureChanges(l *link, value any) ([]change, error) {
	wanted, err := parseEntryList[string]("features", "names", value)
	if err != nil {
		return nil, err
	}
	var have []struct {
		Name string `json:"requirement"`
	}
	if err := l.readJSON(&have, "feature:requirement-list"); err != nil {
		return nil, err
	}
	var out []change
	words := []string{"feature:install"}
	for _, name := range wanted {
		base, _, _ := strings.Cut(name, "/")
		installed := false
		for _, f := range have {
			have, _, _ := strings.Cut(f.Name, "/")
			installed = installed || have == base
		}
		if !installed {
			words = append(words, name)
			out = append(out, change{what: "+ feature " + name})
		}
	}
	if len(out) > 0 {
		out[0].words = words // together or not at all
	}
	return out, nil
}

// switchChanges compares what the list shows; communities and passwords are never shown, so they are given with other
// changes only.
func switchChanges(l *link, value any) ([]change, error) {
	wanted, err := parseObjectList("switches", value)
	if err != nil {
		return nil, err
	}
	var have []map[string]any
	if err := l.readJSON(&have, "switch:PrintDB"); err != nil {
		return nil, err
	}
	row := func(mac, ip, model any) string {
		return fmt.Sprint(
			strings.TrimPrefix(strings.ToLower(fmt.Sprint(mac)), "00:00:"),
			" ",
			ip,
			" ",
			model,
		)
	}
	now, then := map[string]bool{}, map[string]bool{}
	for _, s := range have {
		mac, _, _ := strings.Cut(fmt.Sprint(s["mac-address"]), " ") // of 8 octets, and the number of the node after it
		now[row(mac, s["ip-address"], s["model"])] = true
	}
	for _, s := range wanted {
		then[row(s["node-mac"], s["node-ip"], s["model"])] = true
	}
	if maps.Equal(now, then) {
		return nil, nil
	}
	body, err := json.Marshal(map[string]any{"input": map[string]any{"all-switch-entry": wanted}})
	c := change{
		what:  "~ the switch list",
		words: []string{"restconf:call", "POST", "/rests/operations/switch-db:update-db", "--data", "-"},
		body:  body,
	}
	for _, row := range slices.Sorted(maps.Keys(now)) {
		if !then[row] {
			c.diff = append(c.diff, "- "+row)
		}
	}
	for _, row := range slices.Sorted(maps.Keys(then)) {
		if !now[row] {
			c.diff = append(c.diff, "+ "+row)
		}
	}
	return []change{c}, err
}

// memberPlan is the member that is handed on as it is written.
const memberPlan = "plan"

// key is the key of the lists that listOf compares.
const key = "topology-id"

// listOf compares each entry of a list; entries that the file does not name stay.
func listOf(container, list string) func(*link, any) ([]change, error) {
	return func(l *link, value any) ([]change, error) {
		entries, err := parseObjectList(list, value)
		if err != nil {
			return nil, err
		}
		module, _, _ := strings.Cut(container, ":")
		var out []change
		for _, e := range entries {
			id, ok := e[key]
			if !ok {
				return nil, coded{console.Usage, fmt.Errorf("an entry of %s has no %s", list, key)}
			}
			c, err := dataChange(
				l,
				"/rests/data/"+container+"/"+list+"="+url.PathEscape(fmt.Sprint(id)),
				map[string]any{module + ":" + list: []any{e}},
			)
			if err != nil {
				return nil, err
			}
			out = append(out, c...)
		}
		return out, nil
	}
}

// othersOf removes the entries of a list that no file names. Topologies that a source brings stay: it would bring them
// again.
func othersOf(container, list string) func(*link, []any) ([]change, error) {
	return func(l *link, values []any) ([]change, error) {
		named := map[string]bool{}
		for _, value := range values {
			entries, err := parseObjectList(list, value)
			if err != nil {
				return nil, err
			}
			for _, e := range entries {
				named[fmt.Sprint(e[key])] = true
			}
		}
		now, err := readConfigured(l, "/rests/data/"+container)
		if err != nil {
			return nil, err
		}
		if list == "bier-topology" {
			var all []struct {
				ID      string   `json:"topology-id"`
				Sources []string `json:"sources"`
			}
			if err := l.readJSON(&all, "bier:topo-list"); err != nil {
				return nil, err
			}
			for _, t := range all {
				named[t.ID] = named[t.ID] || len(t.Sources) > 0
			}
		}
		whole, _ := comparableValue(now).(map[string]any)
		_, local, _ := strings.Cut(container, ":")
		inside, _ := whole[local].(map[string]any)
		entries, _ := inside[list].([]any)
		var out []change
		for _, e := range entries {
			entry, _ := e.(map[string]any)
			if id := fmt.Sprint(entry[key]); !named[id] {
				c, err := dataChange(
					l,
					"/rests/data/"+container+"/"+list+"="+url.PathEscape(id),
					nil,
				)
				if err != nil {
					return nil, err
				}
				out = append(out, c...)
			}
		}
		return out, nil
	}
}

// plannedSwitch is how a switch differs from a plan.
type plannedSwitch struct {
	Switch  string `json:"switch"`
	Changes []struct {
		Change string `json:"change"`
		Detail string `json:"detail"`
	} `json:"change"`
	Problems []string `json:"problem"`
	Risks    []string `json:"risk"`
}

// planText is a plan as YAML.
type planText string

// memberNode is the value of a member of a document; nil: it has none.
func memberNode(document *yaml.Node, name string) *yaml.Node {
	for _, top := range document.Content {
		for i := 1; i < len(top.Content) && top.Kind == yaml.MappingNode; i += 2 {
			if top.Content[i-1].Value == name {
				return top.Content[i]
			}
		}
	}
	return nil
}

// maxPlanNodes bounds a plan with what its aliases name.
const maxPlanNodes = 1 << 20

// textOf is a node as YAML by itself: numbers and dates as they are written, and what an alias names in its place, which
// may be outside the node.
func textOf(n *yaml.Node) (planText, error) {
	left := maxPlanNodes
	whole, err := withoutAliases(n, &left)
	if err != nil {
		return "", err
	}
	text, err := yaml.Marshal(whole)
	return planText(text), err
}

func withoutAliases(n *yaml.Node, left *int) (*yaml.Node, error) {
	if *left--; *left < 0 {
		return nil, fmt.Errorf("line %d: the plan has more than %d values with what its aliases name", n.Line, maxPlanNodes)
	}
	if n.Kind == yaml.AliasNode {
		return withoutAliases(n.Alias, left)
	}
	out := *n
	out.Anchor, out.Content = "", nil
	for _, c := range n.Content {
		c, err := withoutAliases(c, left)
		if err != nil {
			return nil, err
		}
		out.Content = append(out.Content, c)
	}
	return &out, nil
}

// planChanges has the controller compare its switches with a plan.
func planChanges(l *link, value any) ([]change, error) {
	document, _ := value.(planText) // readDesired makes one
	asked, err := json.Marshal(map[string]any{"input": map[string]any{"document": document}})
	if err != nil {
		return nil, coded{console.Usage, err}
	}
	const base = "/rests/operations/switch-plan:"
	out, err := l.callCommand(bytes.NewReader(asked), "restconf:call", "POST", base+"preview", "--data", "-")
	if err != nil {
		return nil, err
	}
	var answer struct {
		Output struct {
			Differences []plannedSwitch `json:"difference"`
			Gaps        []string        `json:"gap"`
		} `json:"switch-plan:output"`
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		return nil, coded{console.Failed, fmt.Errorf("the answer of switch-plan:preview: %w", err)}
	}
	if len(answer.Output.Differences) == 0 {
		return nil, nil
	}
	apply, err := json.Marshal(map[string]any{"input": map[string]any{"document": document, "wait": true}})
	return []change{{
		what:  "~ the plan for switches",
		diff:  planLines(answer.Output.Differences, answer.Output.Gaps),
		words: []string{"restconf:call", "POST", base + "apply", "--data", "-"},
		body:  apply,
	}}, err
}

// planLines are the lines of a plan's differences, and of why it is not applied.
func planLines(all []plannedSwitch, gaps []string) (out []string) {
	for _, d := range all {
		for _, c := range d.Changes {
			line := "+ " + d.Switch + ": " + c.Change
			if c.Detail != "" {
				line += " (" + c.Detail + ")"
			}
			out = append(out, line)
		}
		for _, text := range d.Problems {
			out = append(out, "! "+d.Switch+": "+text)
		}
		for _, text := range d.Risks {
			out = append(out, "! "+d.Switch+": only with force: "+text)
		}
	}
	for _, text := range gaps {
		out = append(out, "! only with force: "+text)
	}
	return out
}

func policyChanges(l *link, value any) ([]change, error) {
	entries, err := parseObjectList("policies", value)
	if err != nil {
		return nil, err
	}
	return dataChange(
		l,
		"/rests/data/aaa:http-authorization/policies",
		map[string]any{"aaa:policies": map[string]any{"policies": entries}},
	)
}

func dataChanges(l *link, value any) ([]change, error) {
	all, ok := value.(map[string]any)
	if !ok {
		return nil, coded{console.Usage, fmt.Errorf("data must be a mapping of /rests/data/… to the content")}
	}
	var out []change
	for _, path := range slices.Sorted(maps.Keys(all)) {
		c, err := dataChange(l, path, all[path])
		if err != nil {
			return nil, err
		}
		out = append(out, c...)
	}
	return out, nil
}

// dataChange compares a resource as it is configured, without defaults, with what it is to be.
func dataChange(l *link, path string, want any) ([]change, error) {
	wanted, err := toJSONValue(want)
	if err != nil {
		return nil, coded{console.Usage, fmt.Errorf("%s: %w", path, err)}
	}
	now, err := readConfigured(l, path)
	if err != nil {
		return nil, err
	}
	if reflect.DeepEqual(comparableValue(now), comparableValue(wanted)) {
		return nil, nil
	}
	body, err := json.Marshal(wanted)
	c := change{
		what:  "~ " + path,
		diff:  changedLines(indentedJSON(now), indentedJSON(wanted)),
		words: []string{"restconf:call", "PUT", path, "--data", "-"},
		body:  body,
	}
	if now == nil {
		c.what = "+ " + path
	}
	if wanted == nil {
		c.what, c.words, c.body = "- "+path, []string{"restconf:call", "DELETE", path}, nil
	}
	return []change{c}, err
}

// readConfigured is a resource as it is configured, without defaults; nil when it is absent.
func readConfigured(l *link, path string) (now any, err error) {
	out, err := l.callCommand(
		strings.NewReader(""),
		"restconf:call",
		"GET",
		path+"?content=config&with-defaults=explicit",
	)
	switch {
	case err == nil:
		if err := json.Unmarshal(out, &now); err != nil {
			return nil, coded{console.Failed, fmt.Errorf("%s: %w", path, err)}
		}
	case !hasCode(err, console.NotFound):
		return nil, err
	}
	return now, nil
}

// toJSONValue is a value of YAML as JSON has it: numbers as JSON reads them.
func toJSONValue(v any) (out any, err error) {
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	return out, err
}

// comparableValue is a value for comparison: names without the module, scalars as texts (YANG's 64-bit numbers are texts in JSON),
// and lists of entries in any order.
func comparableValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, member := range v {
			if _, local, ok := strings.Cut(name, ":"); ok {
				name = local
			}
			list, ok := member.([]any)
			if ok && len(list) == 0 {
				continue // a list without entries does not exist
			}
			out[name] = comparableValue(member)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = comparableValue(v[i])
		}
		slices.SortStableFunc(out, func(a, b any) int {
			return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
		})
		return out
	case nil:
		return nil
	}
	return fmt.Sprint(v)
}

// indentedJSON is a value as indented JSON.
func indentedJSON(v any) []byte {
	if v == nil {
		return nil
	}
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil
	}
	return append(b, '\n')
}

// changedLines shows what goes and what comes.
func changedLines(now, then []byte) []string {
	var out []string
	for i, line := range strings.Split(string(diff.Diff("now", now, "then", then)), "\n") {
		if i > 2 &&
			line != "" &&
			(line[0] == '-' || line[0] == '+') { // the first three are the head
			out = append(out, line[:1]+" "+line[1:])
		}
	}
	return out
}

// parseEntryList are those of a list of a YAML file, all of one kind: "names" or "mappings".
func parseEntryList[T any](name, kind string, v any) ([]T, error) {
	list, ok := v.([]any)
	out := make([]T, len(list))
	for i, e := range list {
		if out[i], ok = e.(T); !ok {
			break
		}
	}
	if !ok {
		return nil, coded{console.Usage, fmt.Errorf("%s is a list of %s", name, kind)}
	}
	return out, nil
}

func parseObjectList(name string, v any) ([]map[string]any, error) {
	return parseEntryList[map[string]any](name, "mappings", v)
}
