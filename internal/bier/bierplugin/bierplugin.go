// Package bierplugin is what the BIER plugins have in common besides their data: the YANG
// modules that several of them ship, how they start, report their health and stop.
package bierplugin

import (
	"context"
	"embed"
	"io/fs"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"ctl.internal/internal/yang"
	"ctl.internal/sdk"
	"ctl.internal/sdk/commands"
)

//go:embed yang
var shared embed.FS

// Options are what a plugin serves: files holds its plugin.yaml and yang/, carried names
// further modules, which package yang has.
func Options(
	files fs.FS,
	start func(context.Context, *sdk.Env) (*sdk.Plugin, error),
	list []commands.Command,
	carried ...string,
) sdk.Options {
	manifest, _ := fs.ReadFile(files, "plugin.yaml") // its absence is reported as an empty manifest
	return sdk.Options{
		Manifest: manifest,
		YANG:     layers{files, shared, only{yang.Modules(), carried}},
		New:      start,
		Commands: list,
	}
}

// Health is the health of a plugin some of whose records cannot be read.
func Health(broken map[string]error) sdk.Health {
	if len(broken) == 0 {
		return sdk.Health{State: sdk.Healthy}
	}
	first := slices.Min(slices.Collect(maps.Keys(broken)))
	return sdk.Health{
		State:  sdk.Degraded,
		Reason: broken[first].Error() + "; it is kept as it is",
	}
}

// Stop returns the function that ends a plugin: it calls cancel and waits for the
// goroutines of the group, as long as its context allows.
func Stop(cancel context.CancelFunc, group *sync.WaitGroup) func(context.Context) error {
	return func(ctx context.Context) error {
		cancel()
		done := make(chan struct{})
		go func() { group.Wait(); close(done) }()
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// maxCompletions bounds what a large network offers.
const maxCompletions = 200

// Complete returns the names that begin with prefix, each once.
func Complete(names iter.Seq[string], prefix string) (out []string) {
	for name := range names {
		if strings.HasPrefix(name, prefix) &&
			len(out) < maxCompletions &&
			!slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// layers looks in one file system after the other.
type layers []fs.FS

// Open implements fs.FS.
func (l layers) Open(name string) (f fs.File, err error) {
	for _, one := range l {
		if f, err = one.Open(name); err == nil {
			return f, nil
		}
	}
	return nil, err
}

// Glob implements fs.GlobFS: what all have.
func (l layers) Glob(pattern string) (out []string, err error) {
	for _, one := range l {
		names, err := fs.Glob(one, pattern)
		if err != nil {
			return nil, err
		}
		out = append(out, names...)
	}
	return out, nil
}

// only shows the files of some modules.
type only struct {
	fs.FS
	modules []string
}

// Glob implements fs.GlobFS.
func (o only) Glob(pattern string) ([]string, error) {
	names, err := fs.Glob(o.FS, pattern)
	return slices.DeleteFunc(names, func(name string) bool {
		return !slices.Contains(o.modules, strings.TrimSuffix(path.Base(name), ".yang"))
	}), err
}
