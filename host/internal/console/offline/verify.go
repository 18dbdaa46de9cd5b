package offline

import (
	"context"
	"fmt"
	"os"
	"strings"

	"ctl.internal/host/internal/feature"
	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/logs"
	"ctl.internal/host/internal/plugin/process"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// verified is a plugin of the catalogue and what was found of its file.
type verified struct {
	Feature string `json:"feature"`
	Plugin  string `json:"plugin"`
	Path    string `json:"path"`
	SHA256  string `json:"sha256"`
	Fault   string `json:"fault,omitempty"`
}

func verifyCommand(d home.Dir) commands.Command {
	return commands.Command{Name: "features:verify", Run: func(_ context.Context, in *commands.Invocation) error {
		problems, plugins := feature.Check(d), verifyPlugins(d, locator(d, in.Option("plugins")))
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
		if err := in.Emit(map[string]any{"problems": problems, "plugins": plugins}, b.String); err != nil || faults == 0 {
			return err
		}
		return fault.New(fault.Internal, "the catalogue is not in order (faults: %d)", faults)
	}}
}

// verifyPlugins compares the file of every plugin with its checksum.
func verifyPlugins(d home.Dir, l feature.Locator) []verified {
	out := []verified{}
	for _, file := range d.Catalogue() {
		b, err := os.ReadFile(file)
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
				v := verified{Feature: f.ID(), Plugin: p.Name}
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
