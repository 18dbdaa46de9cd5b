package tables

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ctl.internal/host/internal/feature"
	"ctl.internal/internal/console"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

func (t features) repoList() commands.Command {
	return commands.Command{
		Name: "feature:repo-list", Summary: "list the files of the catalogue", Safe: true,
		Run: func(_ context.Context, in *commands.Invocation) error {
			out := &commands.Table{Empty: "No repositories", Columns: []commands.Column{{Title: "Repository", Key: "name"}, {Title: "URL", Key: "url"}, {Title: "Added", Key: "added"},
				{Title: "Signed by", Key: "signedBy"}, {Title: "Note", Key: "note"}}}
			for _, r := range t.Repositories() {
				out.Add(r.Name, r.URL, mark(in, r.Added), r.SignedBy, r.Note)
			}
			return in.Emit(out, nil)
		},
	}
}

func (t features) repoAdd() commands.Command {
	return commands.Command{
		Name: "feature:repo-add", Summary: "add a file of features to the catalogue",
		Help: "feature:repo-add /tmp/acme.yaml\nThe file is read at once; a fault in it is an error and adds nothing. Its author signs it with minisign: the signature is\n" +
			"beside it, as FILE.minisig. A key that is not trusted yet is shown, and you are asked; scripts name it with --key.",
		Options: []commands.Option{verboseOption, boolOption("install", "i", "install all its features"),
			{Name: "key", Short: "k", Help: "public key of the author, in minisign's form (RW...), to trust without asking", Type: commands.String},
			boolOption("unsigned", "u", "add a file without a signature; feature:repo-list and plugin:info show that")},
		Arguments: []commands.Argument{{Name: "url", Help: "path of the file, or file:// address", Type: commands.File, Required: true, Beside: []string{".minisig", ".pub"}}},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			return changing(in, "adding "+in.Arg("url"), func() (feature.Change, error) {
				o := feature.AddOptions{Install: in.Flag("install"), Unsigned: in.Flag("unsigned"), Key: in.Option("key"), By: actor(in.Caller)}
				_, c, err := t.AddRepository(ctx, in.Arg("url"), o)
				var untrusted *feature.UntrustedError
				if errors.As(err, &untrusted) && agreesTo(ctx, in, untrusted) {
					o.Key = untrusted.Signer.Key
					_, c, err = t.AddRepository(ctx, in.Arg("url"), o)
				}
				return c, err
			})
		},
	}
}

// agreesTo shows the key of a catalogue and asks whether it is trusted.
func agreesTo(ctx context.Context, in *commands.Invocation, u *feature.UntrustedError) bool {
	in.Progress(commands.Progress{})
	answer, err := in.Prompt(ctx, fmt.Sprintf("%s is signed with the key\n  ID           %s\n  fingerprint  %s\n  public key   %s\n"+
		"Compare it with what its author publishes. Trust it for this and later catalogues? (yes/no) ",
		console.Printable(u.Catalogue), u.Signer.ID, u.Signer.Fingerprint, u.Signer.Key), true)
	return err == nil && yes(answer)
}

func (t features) keyList() commands.Command {
	return commands.Command{
		Name: "feature:key-list", Summary: "list the public keys of catalogues that were trusted or revoked", Safe: true,
		Run: func(_ context.Context, in *commands.Invocation) error {
			out := &commands.Table{Empty: "No keys", Columns: []commands.Column{{Title: "ID", Key: "id"}, {Title: "State", Key: "state"}, {Title: "By", Key: "by"},
				{Title: "At", Key: "at"}, {Title: "Catalogues", Key: "repositories"}, {Title: "Fingerprint", Key: "fingerprint"}, {Title: "Public key", Key: "key"}}}
			for _, k := range t.Keys() {
				var at any = when(k.At.Local())
				if in.Format == "json" {
					at = k.At
				}
				out.Add(k.ID, map[bool]string{true: "revoked", false: "trusted"}[k.Revoked], console.Printable(k.By), at, strings.Join(k.Repositories, ", "), k.Fingerprint, k.Key)
			}
			return in.Emit(out, nil)
		},
	}
}

func (t features) keyRevoke() commands.Command {
	return commands.Command{
		Name: "feature:key-revoke", Summary: "end the trust in a public key of catalogues",
		Help:    "The features of its catalogues are not run any more, on all nodes, from now on. feature:repo-add --key trusts it again.",
		Options: []commands.Option{verboseOption},
		Arguments: []commands.Argument{{Name: "key", Help: "its ID", Required: true, Complete: names(func() []string {
			var out []string
			for _, k := range t.Keys() {
				if !k.Revoked {
					out = append(out, k.ID)
				}
			}
			return out
		})}},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			return changing(in, "revoking "+in.Arg("key"), func() (feature.Change, error) { return t.RevokeKey(ctx, in.Arg("key"), actor(in.Caller)) })
		},
	}
}

func (t features) verify() commands.Command {
	name := t.several(t.Installed)
	name.Required = false
	return commands.Command{
		Name: "feature:verify", Summary: "check signatures, checksums and running programs of features", Safe: true,
		Help: "For each plugin of a started feature: the signature of its catalogue and the trust in the key, the checksum of its file, and\n" +
			"that its process runs that file. Ends with an error when something is not as it should be.",
		Arguments: []commands.Argument{name},
		Run: func(_ context.Context, in *commands.Invocation) error {
			all, err := t.Verify(in.Args["name"])
			if err != nil {
				return err
			}
			bad := 0
			out := &commands.Table{Empty: "No plugins", Columns: []commands.Column{{Title: "Feature", Key: "feature"}, {Title: "Plugin", Key: "plugin"},
				{Title: "Origin", Key: "origin"}, {Title: "SHA-256", Key: "sha256"}, {Title: "Result", Key: "result"}}}
			for _, v := range all {
				result, sum := "ok", v.SHA256
				if v.Fault != "" {
					result, bad = v.Fault, bad+1
				} else if sum == "" {
					result = "ok, but no checksum is demanded"
				}
				if in.Format != "json" && len(sum) > 12 {
					sum = sum[:12]
				}
				out.Add(v.Feature, v.Plugin, console.Printable(v.Origin), sum, console.Printable(result))
			}
			if err := in.Emit(out, nil); err != nil || bad == 0 {
				return err
			}
			return fault.New(fault.Downstream, "%d of %d plugins are not as they should be", bad, len(all))
		},
	}
}

func (t features) repoRemove() commands.Command {
	return commands.Command{
		Name: "feature:repo-remove", Summary: "remove a file that was added to the catalogue",
		Options: []commands.Option{verboseOption, boolOption("uninstall-all", "u", "uninstall its features first")},
		Arguments: []commands.Argument{{Name: "repository", Help: "its name", Required: true, Complete: names(func() []string {
			var out []string
			for _, r := range t.Repositories() {
				if r.Added {
					out = append(out, r.Name)
				}
			}
			return out
		})}},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			return changing(in, "removing "+in.Arg("repository"), func() (feature.Change, error) {
				return t.RemoveRepository(ctx, in.Arg("repository"), in.Flag("uninstall-all"))
			})
		},
	}
}

func (t features) repoRefresh() commands.Command {
	return commands.Command{
		Name: "feature:repo-refresh", Summary: "read the files of the catalogue again",
		Options: []commands.Option{verboseOption},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			return changing(in, "reading the catalogue", func() (feature.Change, error) { return t.Refresh(ctx) })
		},
	}
}
