package settings

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	"ctl.internal/host/internal/feature"
	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/plugin/process"
	"ctl.internal/internal/nearest"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// Bounds of asking a plugin's executable what its settings are.
const (
	describeTime = 20 * time.Second
	describeSize = 8 << 20 // bytes
)

// Plugins checks each etc/NAME.yaml against what the executable of that plugin says its
// settings are, as the controller does when it starts the plugin.
func Plugins(ctx context.Context, dir home.Dir, at feature.Locator) []home.Problem {
	var problems []home.Problem
	files, _ := filepath.Glob(dir.Etc("*.yaml")) // the pattern is well-formed
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if name == "ctl" {
			continue
		}
		if _, _, err := at.Locate(name); err != nil {
			problems = append(problems, home.Problem{File: file, Warning: true, Text: fmt.Sprintf("nobody reads it: there is no plugin %q%s", name, nearest.Hint(name, at.Names()))})
			continue
		}
		text, _, err := dir.PluginConfig(name)
		if err != nil {
			continue // home.Validate reports it
		}
		schema, err := schemaOf(ctx, name, at)
		if err != nil {
			problems = append(problems, home.Problem{File: file, Warning: true, Text: fmt.Sprintf("not checked, plugin %s does not say what its settings are: %v", name, err)})
			continue
		}
		_, found := home.CheckPluginConfig(file, text, schema)
		problems = append(problems, found...)
	}
	return problems
}

// schemaOf asks a plugin for its manifest; only a file that the catalogue's checksums
// know is executed, where there are such.
func schemaOf(ctx context.Context, name string, at feature.Locator) ([]byte, error) {
	path, sum, err := at.Locate(name)
	if err != nil {
		return nil, err
	}
	if _, err := process.Hash(path, sum, nil); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, describeTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "describe")
	cmd.Env, cmd.WaitDelay = []string{}, time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	b, readErr := io.ReadAll(io.LimitReader(out, describeSize))
	if len(b) == describeSize {
		cancel()
	}
	if err := errors.Join(readErr, cmd.Wait()); err != nil {
		return nil, err
	}
	var m pluginv1.Manifest
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(b, &m); err != nil {
		return nil, errors.New("what it prints is no manifest")
	}
	return m.ConfigSchema, nil
}
