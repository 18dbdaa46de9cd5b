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

func (t features) repoList(_ context.Context, in *commands.Invocation) error {
	out := &commands.Table{
		Empty: "No repositories",
		Columns: []commands.Column{{
			Title: "Repository",
			Key:   "name",
		}, {
			Title: "URL",
			Key:   "url",
		}, {Title: "Added", Key: "added"},
			{
				Title: "Signed by",
				Key:   "signedBy",
			}, {Title: "Note", Key: "note"}},
	}
	for _, r := range t.Repositories() {
		out.Add(r.Name, r.URL, markValue(in, r.Added), r.SignedBy, r.Note)
	}
	return in.Emit(out, nil)
}

func (t features) repoAdd(ctx context.Context, in *commands.Invocation) error {
	return runChange(in, "adding "+in.Arg("url"), func() (feature.Change, error) {
		o := feature.AddOptions{
			Install:  in.Flag("install"),
			Unsigned: in.Flag("unsigned"),
			Key:      in.Option("key"),
			By:       grantActor(in.Caller),
		}
		_, c, err := t.AddRepository(ctx, in.Arg("url"), o)
		var untrusted *feature.UntrustedError
		if errors.As(err, &untrusted) && agreesTo(ctx, in, untrusted) {
			o.Key = untrusted.Signer.Key
			_, c, err = t.AddRepository(ctx, in.Arg("url"), o)
		}
		return c, err
	})
}

// agreesTo shows the key of a catalogue and asks whether it is trusted.
func agreesTo(ctx context.Context, in *commands.Invocation, u *feature.UntrustedError) bool {
	ok, err := confirmQuestion(ctx, in, fmt.Sprintf("%s is signed with the key\n  ID           %s\n  fingerprint  %s\n  public key   %s\n"+
		"Compare it with what its author publishes. Trust it for this and later catalogues? (yes/no) ",
		console.Printable(u.Catalogue), u.Signer.ID, u.Signer.Fingerprint, u.Signer.Key))
	return ok && err == nil
}

func (t features) keyList(_ context.Context, in *commands.Invocation) error {
	out := &commands.Table{
		Empty: "No keys",
		Columns: []commands.Column{{
			Title: "ID",
			Key:   "id",
		}, {
			Title: "State",
			Key:   "state",
		}, {Title: "By", Key: "by"},
			{
				Title: "At",
				Key:   "at",
			}, {
				Title: "Catalogues",
				Key:   "repositories",
			}, {
				Title: "Fingerprint",
				Key:   "fingerprint",
			}, {Title: "Public key", Key: "key"}},
	}
	for _, k := range t.Keys() {
		out.Add(
			k.ID,
			map[bool]string{
				true:  "revoked",
				false: "trusted",
			}[k.Revoked],
			console.Printable(k.By),
			timeCell(in, k.At),
			strings.Join(k.Repositories, ", "),
			k.Fingerprint,
			k.Key,
		)
	}
	return in.Emit(out, nil)
}

func (t features) keyRevoke(ctx context.Context, in *commands.Invocation) error {
	return runChange(in, "revoking "+in.Arg("key"), func() (feature.Change, error) {
		return t.RevokeKey(ctx, in.Arg("key"), grantActor(in.Caller))
	})
}

func (t features) verifyPlugins(_ context.Context, in *commands.Invocation) error {
	all, err := t.Verify(in.Args["name"])
	if err != nil {
		return err
	}
	bad := 0
	out := &commands.Table{
		Empty: "No plugins",
		Columns: []commands.Column{{
			Title: "Feature",
			Key:   "feature",
		}, {Title: "Plugin", Key: "plugin"},
			{
				Title: "Origin",
				Key:   "origin",
			}, {
				Title: "SHA-256",
				Key:   "sha256",
			}, {Title: "Result", Key: "result"}},
	}
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
	return fault.New(fault.Downstream, "%d of %d plugins have a problem", bad, len(all))
}

func (t features) repoRemove(ctx context.Context, in *commands.Invocation) error {
	return runChange(in, "removing "+in.Arg("repository"), func() (feature.Change, error) {
		return t.RemoveRepository(ctx, in.Arg("repository"), in.Flag("uninstall-all"))
	})
}

func (t features) repoRefresh(ctx context.Context, in *commands.Invocation) error {
	return runChange(in, "reading the catalogue", func() (feature.Change, error) {
		return t.Refresh(ctx)
	})
}
