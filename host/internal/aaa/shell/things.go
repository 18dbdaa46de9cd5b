package shell

import (
	"context"
	"fmt"
	"strings"

	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/sdk/commands"
)

// things are what can be listed and removed: users, roles or domains.
type things[T interface{ ID() string }] struct {
	name    string // "User"
	columns []commands.Column
	list    func(context.Context, identity.Page) ([]T, error)
	delete  func(ctx context.Context, id string) error
	id      func(name string) string
	of      func(T) (name, domain string)
	row     func(T) []any
}

func (t *table) userThings() things[identity.User] {
	return things[identity.User]{
		name:   "User",
		list:   t.Identity.Users,
		delete: t.Identity.DeleteUser,
		id:     func(name string) string { return fullID(name, identity.SDN) },
		columns: []commands.Column{{
			Title: "User",
			Key:   "name",
		}, {
			Title: "Id",
			Key:   "userid",
		}, {
			Title: "Enabled",
			Key:   "enabled",
		}, {Title: "Description", Key: "description"}},
		of: func(u identity.User) (string, string) { return u.Name, u.Domain },
		row: func(u identity.User) []any {
			return []any{u.Name, u.ID(), u.Enabled, u.Description}
		},
	}
}

func (t *table) roleThings() things[identity.Role] {
	return things[identity.Role]{
		name:   "Role",
		list:   t.Identity.Roles,
		delete: t.Identity.DeleteRole,
		id:     func(name string) string { return fullID(name, identity.SDN) },
		columns: []commands.Column{{
			Title: "Role",
			Key:   "name",
		}, {
			Title: "Id",
			Key:   "roleid",
		}, {Title: "Description", Key: "description"}},
		of: func(r identity.Role) (string, string) { return r.Name, r.Domain },
		row: func(r identity.Role) []any {
			return []any{r.Name, r.ID(), r.Description}
		},
	}
}

func (t *table) domainThings() things[identity.Domain] {
	return things[identity.Domain]{
		name:   "Domain",
		list:   t.Identity.Domains,
		delete: t.Identity.DeleteDomain,
		id:     func(name string) string { return name },
		columns: []commands.Column{{
			Title: "Domain",
			Key:   "name",
		}, {
			Title: "Enabled",
			Key:   "enabled",
		}, {Title: "Description", Key: "description"}},
		of: func(d identity.Domain) (string, string) { return d.Name, identity.SDN },
		row: func(d identity.Domain) []any {
			return []any{d.Name, d.Enabled, d.Description}
		},
	}
}

// completions bounds the names that are looked through to complete one.
const completions = 1000

// completeNames are those that begin with prefix, for completion.
func (k things[T]) completeNames(ctx context.Context, prefix string) (out []string) {
	list, _ := k.list(ctx, identity.Page{Limit: completions})
	for _, one := range list {
		name, domain := k.of(one)
		if domain != identity.SDN {
			name += "@" + domain
		}
		if strings.HasPrefix(name, prefix) {
			out = append(out, name)
		}
	}
	return out
}

// listCommand is the command that lists them, once allowed returns no error; nil = at once.
func (k things[T]) listCommand(
	summary string,
	allowed func(context.Context, *commands.Invocation) error,
) commands.Command {
	return commands.Command{
		Name:    "aaa:get-" + strings.ToLower(k.name) + "s",
		Summary: summary,
		Safe:    true,
		Run: func(ctx context.Context, in *commands.Invocation) error {
			if allowed != nil {
				if err := allowed(ctx, in); err != nil {
					return err
				}
			}
			list, err := k.list(ctx, identity.Page{})
			if err != nil {
				return err
			}
			out := &commands.Table{Columns: k.columns}
			lines := []string{k.name + "s: "}
			for _, one := range list {
				out.Add(k.row(one)...)
				name, _ := k.of(one)
				lines = append(lines, name)
			}
			return in.Emit(out, func() string {
				return strings.Join(lines, "\n  ") + "\n"
			})
		},
	}
}

// removeCommand is the command that removes one.
func (k things[T]) removeCommand(summary string) commands.Command {
	kind := strings.ToLower(k.name)
	name := requiredOption(textOption("name", "the "+kind+"'s name", kind+"Name"))
	name.Complete = k.completeNames
	return commands.Command{
		Name:    "aaa:remove-" + kind,
		Summary: summary,
		Options: []commands.Option{name},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			of := k.id(in.Option("name"))
			if err := k.delete(ctx, of); err != nil {
				return err
			}
			return emitResult(
				in,
				kind+"id",
				of,
				fmt.Sprintf("%s %s has been deleted.", k.name, in.Option("name")),
			)
		},
	}
}
