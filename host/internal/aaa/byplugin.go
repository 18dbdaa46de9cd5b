package aaa

import (
	"context"

	"ctl.internal/sdk/caller"
)

// PluginDomain is the domain of a plugin that acts for nobody. No domain of users and no realm may have this name, and it alone
// makes nobody a plugin: IsPlugin does not look at names that a login could have.
const PluginDomain = "plugin"

type pluginKey struct{}

// AsPlugin returns ctx with a plugin as its caller that acts for nobody.
func AsPlugin(ctx context.Context, plugin string) context.Context {
	return caller.With(context.WithValue(ctx, pluginKey{}, plugin), caller.Caller{
		User:   plugin,
		Domain: PluginDomain,
	})
}

// IsPlugin reports whether the caller of ctx is a plugin that acts for nobody: AsPlugin has made it, and it is the caller still.
func IsPlugin(ctx context.Context) bool {
	plugin, marked := ctx.Value(pluginKey{}).(string)
	who, known := caller.From(ctx)
	return marked && known && who.User == plugin && who.Domain == PluginDomain
}
