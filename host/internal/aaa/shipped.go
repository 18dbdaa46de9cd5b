package aaa

import (
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	ctl "ctl.internal"
	"ctl.internal/sdk/realm"
)

// shippedPlugin is what access control knows of a plugin of the controller, whether it is installed or not.
type shippedPlugin struct {
	Labels struct {
		Kinds     string `yaml:"realm-kinds"`      // classes of sec.ini
		Parallel  string `yaml:"realm-parallel"`   // how many logins its realms are asked about at once
		Directory string `yaml:"realm-directory"`  // see realmFacts
		Takes     string `yaml:"realm-takes"`      // see realmFacts
		OneDomain string `yaml:"realm-one-domain"` // see realmFacts
	}
	Routes []struct {
		Path string
	}
}

// shippedPlugins reads the manifests of the controller's plugins.
func shippedPlugins() []shippedPlugin {
	var out []shippedPlugin
	manifests, _ := fs.Glob(ctl.Manifests, "plugins/*/plugin.yaml")
	for _, name := range manifests {
		text, _ := ctl.Manifests.ReadFile(name)
		var p shippedPlugin
		if err := yaml.Unmarshal(text, &p); err == nil {
			out = append(out, p)
		}
	}
	return out
}

// shippedKinds are the classes of realms of the controller's plugins.
func shippedKinds() (kinds []string) {
	for _, p := range shippedPlugins() {
		kinds = append(kinds, strings.Fields(p.Labels.Kinds)...)
	}
	return kinds
}

// realmFacts is what the plugin of a class of realms says of it.
type realmFacts struct {
	parallel  int
	directory bool         // all spellings of a name are one account, and groups are named by their DN
	oneDomain bool         // it takes NAME@sdn for NAME
	takes     []realm.Kind // nil = not known before the plugin runs
}

// takenKinds are the words of the label realm-takes: what a realm takes, said before its plugin runs. The
// instance itself says it again, and that holds.
var takenKinds = map[string][]realm.Kind{
	"":       {realm.Password},
	"bearer": {realm.Bearer},
}

func factsOf(class string) realmFacts {
	facts := realmFacts{parallel: defaultParallel}
	for _, p := range shippedPlugins() {
		if !slices.Contains(strings.Fields(p.Labels.Kinds), class) {
			continue
		}
		facts.directory = p.Labels.Directory == "true"
		facts.oneDomain = p.Labels.OneDomain == "true"
		facts.takes = takenKinds[p.Labels.Takes]
		n, err := strconv.Atoi(p.Labels.Parallel)
		if err == nil && n > 0 {
			facts.parallel = n
		}
	}
	return facts
}
