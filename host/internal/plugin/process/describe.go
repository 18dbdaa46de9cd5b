package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// Bounds of asking a program what it is.
const (
	describeTime = 20 * time.Second
	describeSize = 8 << 20 // bytes
)

// Alone is the isolation of a process that was granted nothing and keeps nothing; home is the controller's.
func Alone(home string) *Isolate {
	i := &Isolate{
		Connect:   []uint16{},
		Listen:    []uint16{},
		Home:      home,
		User:      describeUser,
		Processes: 512,
	}
	if err := noUsers(); err != nil {
		i.User, i.NoUser = 0, err.Error()
	}
	return i
}

// Describe runs a program with the argument "describe" and returns the manifest that it prints. Only Path, Args, Env,
// SHA256, Sums, Isolate and Keeper of the spec count.
func Describe(ctx context.Context, s Spec) (*pluginv1.Manifest, error) {
	ctx, cancel := context.WithTimeout(ctx, describeTime)
	defer cancel()
	prog, err := openProgram(s.Path, s.SHA256, s.Sums)
	if err != nil {
		return nil, err
	}
	defer prog.file.Close()
	path := fmt.Sprintf("/proc/self/fd/%d", prog.file.Fd())
	if prog.script {
		path = prog.path
	}
	none, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	defer none.Close()
	out, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer out.Close()
	c, err := startChild(&exec.Cmd{
		Path:   path,
		Args:   append(append([]string{prog.path}, s.Args...), "describe"),
		Env:    append([]string{"PATH=" + os.Getenv("PATH")}, s.Env...),
		Dir:    "/",
		Stdout: w,
		Stderr: none,
	}, s.Isolate.boundsFor(prog.file, prog.path), s.Keeper)
	w.Close()
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() {
		c.kill()
		_ = out.SetReadDeadline(time.Now().Add(drainGrace))
	})()
	b, readErr := io.ReadAll(io.LimitReader(out, describeSize))
	if readErr != nil || len(b) == describeSize {
		c.kill()
	}
	<-c.done
	switch exit := c.exitStatus(); {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("it does not answer: %w", ctx.Err())
	case readErr != nil:
		return nil, readErr
	case !exit.Clean():
		return nil, errors.New(strings.TrimSpace(exit.String()))
	}
	m := &pluginv1.Manifest{}
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(b, m); err != nil {
		return nil, errors.New("its output is not a manifest")
	}
	return m, nil
}
