package server

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"

	"ctl.internal/host/internal/restconf"
	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/internal/together"
	"ctl.internal/internal/yang"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// catalog is the schema of what is installed now. It is replaced as a whole.
type catalog struct {
	host *pluginv1.Manifest // of the controller's own modules
	now  atomic.Pointer[restconf.Installed]
	log  *slog.Logger
	bad  atomic.Pointer[map[string]string] // owner → why its modules are not in the schema

	origins atomic.Pointer[origins]

	changed together.Signal
}

func newCatalog(host *pluginv1.Manifest, log *slog.Logger) (*catalog, error) {
	c := &catalog{host: host, log: log}
	set, err := yang.Load(yangSources([]*pluginv1.Manifest{host})...)
	if err != nil {
		return nil, fmt.Errorf("the controller's own YANG modules: %w", err)
	}
	c.now.Store(&restconf.Installed{Schema: set})
	c.bad.Store(&map[string]string{})
	return c, nil
}

// Changed is closed when what is installed has changed after the call.
func (c *catalog) Changed() <-chan struct{} {
	return c.changed.Wait()
}

func (c *catalog) Installed() *restconf.Installed {
	return c.now.Load()
}

// refusalReason returns why the modules of an owner are not served; empty when they are.
func (c *catalog) refusalReason(owner string) string {
	return (*c.bad.Load())[owner]
}

// updateSchema builds the schema again; rest says which modules of an owner are served
// over REST. A plugin whose modules do not fit is left out with a message; the
// others are served.
func (c *catalog) updateSchema(plugins []*pluginv1.Manifest, rest func(owner, module string) bool) {
	good, bad := []*pluginv1.Manifest{c.host}, map[string]string{}
	set, err := yang.Load(yangSources(append(slices.Clone(good), plugins...))...)
	if err == nil {
		good = append(good, plugins...)
	} else {
		// One of them is bad: find it by adding one after the other.
		for _, p := range plugins {
			if _, err := yang.Load(yangSources(append(slices.Clone(good), p))...); err != nil {
				bad[p.Name] = err.Error()
				c.log.Error(
					"the YANG modules of a plugin are refused; its RPCs and data are not served",
					"plugin",
					p.Name,
					"error",
					err,
				)
				continue
			}
			good = append(good, p)
		}
		if set, err = yang.Load(yangSources(good)...); err != nil {
			c.log.Error("the schema cannot be built; the earlier one stays", "error", err)
			return
		}
	}
	in := &restconf.Installed{
		Schema: set,
		REST:   map[string]bool{},
		Owned:  map[string]bool{},
	}
	var aliases []yang.AliasSet
	for _, p := range good {
		for _, m := range p.YangModules {
			name, _, _ := strings.Cut(m.Name, "@")
			in.REST[name] = in.REST[name] || rest(p.Name, name)
		}
		for _, tree := range p.Owns {
			in.Owned[strings.TrimPrefix(tree, "/")] = true
		}
		for _, s := range p.Streams {
			in.Streams = append(
				in.Streams,
				restconf.Stream{
					Name:        s,
					Description: "Events of " + p.Name + ".",
				},
			)
		}
		if len(p.Aliases) == 0 {
			continue
		}
		a, err := yang.ParseAliases(p.Aliases)
		if err != nil {
			bad[p.Name] = err.Error()
			c.log.Error("the aliases of a plugin are refused", "plugin", p.Name, "error", err)
			continue
		}
		aliases = append(aliases, a)
	}
	if len(aliases) > 0 {
		if in.Aliases, err = yang.NewAliasIndex(set, aliases...); err != nil {
			c.log.Error("the aliases of the plugins are refused", "error", err)
		}
	}
	c.origins.Store(newOrigins(set, good, aliases))
	c.now.Store(in)
	c.bad.Store(&bad)
	c.changed.Fire()
}

// holdsSecret says of a configuration document whether it holds a secret. It implements encrypt.Schema.
func (c *catalog) holdsSecret(key string, doc []byte) (secret, known bool) {
	p, err := tree.ParseText(c.Installed().Schema, key)
	if err != nil || len(p) == 0 {
		return false, false
	}
	return p.Node().HoldsSecret(doc), true
}

func yangSources(manifests []*pluginv1.Manifest) []yang.Source {
	out := make([]yang.Source, 0, len(manifests))
	for _, p := range manifests {
		s := yang.Source{
			Name:  p.Name,
			Files: map[string][]byte{},
		}
		for _, m := range p.YangModules {
			s.Files[m.Name+".yang"] = []byte(m.Text)
		}
		out = append(out, s)
	}
	return out
}
