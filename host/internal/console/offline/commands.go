package offline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"ctl.internal/host/internal/datastore/open"
	"ctl.internal/host/internal/feature"
	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/keys/encrypt"
	"ctl.internal/host/internal/logs"
	"ctl.internal/host/internal/plugin/process"
	"ctl.internal/host/internal/snapshot"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/plugintest"
)

// checkCommand puts an executable through the conformance test of plugins.
func checkCommand() commands.Command {
	return commands.Command{
		Name: "plugin:check",
		Run: func(ctx context.Context, in *commands.Invocation) error {
			var opts []plugintest.Option
			if file := in.Option("config"); file != "" {
				settings, err := readSettings(file)
				if err != nil {
					return fault.Wrap(fault.Invalid, err, "%v", err)
				}
				opts = append(opts, plugintest.WithConfig(settings))
			}
			if only := in.Args["only"]; len(only) > 0 {
				opts = append(opts, plugintest.WithChecks(only...))
			}
			t := &commands.Table{
				Empty: "in order",
				Columns: []commands.Column{
					{
						Title: "Check",
						Key:   "check",
					}, {
						Title: "Kind",
						Key:   "kind",
					}, {Title: "Finding", Key: "finding"}},
			}
			faults := 0
			for _, f := range plugintest.Check(ctx, in.Arg("bin"), opts...) {
				kind := "warning"
				if !f.Warning {
					kind = "fault"
					faults++
				}
				t.Add(f.Check, kind, f.Text)
			}
			err := in.Emit(t, nil)
			if err != nil || faults == 0 {
				return err
			}
			return fmt.Errorf(
				"%s does not conform to the plugin contract (faults: %d)",
				filepath.Base(in.Arg("bin")),
				faults,
			)
		},
	}
}

func readSettings(file string) (map[string]any, error) {
	b, err := home.ReadRegular(file)
	if err != nil {
		return nil, err
	}
	var v map[string]any
	if err := yaml.Unmarshal(b, &v); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return v, nil
}

// snapshotCommands are snapshot:save and snapshot:restore on a home without a controller.
func snapshotCommands(dir home.Dir) []commands.Command {
	return []commands.Command{
		{
			Name: "snapshot:save",
			Run: func(ctx context.Context, in *commands.Invocation) error {
				return saveStopped(ctx, dir, in)
			},
		},
		{
			Name: "snapshot:restore",
			Run: func(ctx context.Context, in *commands.Invocation) error {
				defer in.Progress(commands.Progress{})
				r, err := snapshot.Restore(ctx, string(dir), in.Arg("file"), func(done, total int64) {
					in.Progress(commands.Progress{
						Text:  "restore, KiB",
						Done:  done >> 10,
						Total: total >> 10,
					})
				})
				if err != nil {
					return err
				}
				in.Progress(commands.Progress{})
				in.Printf(
					"restored %s from the snapshot of %s at %s (revision %d)\n",
					dir,
					r.Head.Node,
					r.Head.Time.Format("2006-01-02 15:04:05 UTC"),
					r.Head.Revision,
				)
				if r.Aside != "" {
					in.Printf(
						"what was there before is in %s; remove it when you do not need it\n",
						r.Aside,
					)
				}
				return nil
			},
		},
	}
}

// saveStopped saves a home in which no controller runs.
func saveStopped(ctx context.Context, dir home.Dir, in *commands.Invocation) (err error) {
	h, err := home.Claim(string(dir))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	loaded, problems := home.Load(dir, os.Environ(), nil)
	if err := home.Fatal(problems); err != nil {
		return err
	}
	c := loaded.Datastore
	if c.Etcd.Password, err = encrypt.OpenBefore(dir, c.Etcd.Password); err != nil {
		return err
	}
	store, err := open.Store(ctx, dir, c, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	f, err := os.OpenFile(in.Arg("file"), os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	node, _ := os.Hostname()
	err = snapshot.Save(
		ctx,
		snapshot.Source{
			Dir:     dir,
			Store:   store,
			Version: "ctl",
			Node:    node,
		},
		f,
		nil,
	)
	return errors.Join(err, f.Close())
}

func verifyCommand(d home.Dir) commands.Command {
	return commands.Command{
		Name: "features:verify",
		Run: func(_ context.Context, in *commands.Invocation) error {
			problems := feature.Check(d)
			plugins := verifyPlugins(d, Locator(d, in.Option("plugins")))
			faults := 0
			var b strings.Builder
			for _, p := range problems {
				if p.Warning {
					b.WriteString("warning: ")
				} else {
					faults++
				}
				b.WriteString(logs.Printable(p.String()) + "\n")
			}
			for _, v := range plugins {
				text := v.SHA256 + "  " + v.Path
				if v.Fault != "" {
					text = v.Fault
					faults++
				}
				fmt.Fprintf(&b, "%s: %s: %s\n", v.Feature, v.Plugin, logs.Printable(text))
			}
			err := in.Emit(map[string]any{
				"problems": problems,
				"plugins":  plugins,
			}, b.String)
			if err != nil || faults == 0 {
				return err
			}
			return fault.New(fault.Internal, "the catalogue has faults (%d)", faults)
		},
	}
}

// verifyPlugins compares the file of every plugin with its checksum.
func verifyPlugins(d home.Dir, l feature.Locator) []feature.Verified {
	out := []feature.Verified{}
	for _, file := range d.Catalogue() {
		b, err := home.ReadRegular(file)
		if err != nil {
			continue // feature.Check reports it
		}
		r, _ := feature.ParseRepository(file, b)
		if r == nil {
			continue
		}
		for _, f := range r.Features {
			if !f.Ready() {
				continue
			}
			for _, p := range f.Plugins {
				v := feature.Verified{
					Feature: f.ID(),
					Plugin:  p.Name,
				}
				path, sum, err := l.Locate(p.Name)
				if err == nil {
					if v.Path = path; p.SHA256 != "" {
						sum = p.SHA256
					}
					v.SHA256, err = process.Hash(path, sum, nil)
				}
				if err != nil {
					v.Fault = err.Error()
				}
				out = append(out, v)
			}
		}
	}
	return out
}
