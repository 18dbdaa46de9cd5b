package tables

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	"ctl.internal/internal/console"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// System is the controller as a process.
type System struct {
	Version string
	Commit  string
	Home    string
	Started time.Time
	// Addresses names the listeners and where they listen.
	Addresses func() map[string]string
	// NotReady lists what keeps the controller from serving all it should.
	NotReady func(context.Context) []Reason
	// StoreParts are the disks of the datastore, or the members of its cluster.
	StoreParts func(context.Context) []StorePart
	// UnknownNames are names that requests asked for and that are not known to be this controller's.
	UnknownNames func() []string
	// Shutdown begins the end of the controller and returns at once.
	Shutdown func()
}

// Reason is a thing that is missing, and what to do about it.
type Reason struct {
	What   string `json:"what"` // "store", "disk", "quorum" or "plugin NAME"
	Why    string `json:"why"`
	Remedy string `json:"remedy"`
}

// StorePart is a disk of the datastore, or a member of its cluster.
type StorePart struct{ Part, State, Problem string }

// SystemCommands are system:*, and shell:info for hands that are used to it.
func SystemCommands(s System) []commands.Command {
	return []commands.Command{
		{
			Name:    "system:ready",
			Summary: "show what keeps the controller from serving all it should",
			Safe:    true,
			Run:     s.showReadiness,
			Help:    "It is what /readyz of the admin listener answers. The exit code is 1 when something is missing.",
		},
		{
			Name:    "system:store",
			Summary: "show the disks of the datastore, or the members of its cluster",
			Safe:    true,
			Run:     s.checkStore,
			Help:    "A member of etcd that is away, knows no leader, or runs without pre-vote is named with what to do. The exit code is 1 when something is wrong.",
		},
		{
			Name:    "system:names",
			Summary: "show the names that requests asked for and that are not known to be this controller's",
			Safe:    true,
			Run:     s.names,
			Help:    "Pages are not served by them. Those that are names of this controller are added to listeners.names of etc/ctl.yaml.",
		},
		{
			Name:    "shell:info",
			Summary: "system:info under the name that it has in Karaf",
			Safe:    true,
			Run:     s.showInfo,
		},
		{
			Name:    "system:version",
			Summary: "show the version of the controller",
			Safe:    true,
			Run:     s.showVersion,
		},
		{
			Name:    "system:info",
			Summary: "show the controller's process: version, home, listeners, memory",
			Safe:    true,
			Run:     s.showInfo,
		},
		{
			Name:    "system:shutdown",
			Summary: "stop the controller",
			Run:     s.shutdownController,
			Help:    "Plugins are stopped, calls in flight are finished.",
			Options: []commands.Option{boolOption("force", "f", "do not ask")},
		},
	}
}

func (s System) showReadiness(ctx context.Context, in *commands.Invocation) error {
	out := &commands.Table{
		Empty: "ready",
		Columns: []commands.Column{{
			Title: "What",
			Key:   "what",
		}, {
			Title: "Why",
			Key:   "why",
		}, {Title: "Remedy", Key: "remedy"}},
	}
	for _, r := range s.NotReady(ctx) {
		out.Add(r.What, r.Why, r.Remedy)
	}
	return emitFindings(in, out)
}

func (s System) checkStore(ctx context.Context, in *commands.Invocation) error {
	out := &commands.Table{
		Empty: "in order",
		Columns: []commands.Column{{
			Title: "Part",
			Key:   "part",
		}, {
			Title: "State",
			Key:   "state",
		}, {Title: "Problem", Key: "problem"}},
	}
	wrong := false
	for _, p := range s.StoreParts(ctx) {
		out.Add(p.Part, p.State, p.Problem)
		wrong = wrong || p.Problem != ""
	}
	if err := in.Emit(out, nil); err != nil || !wrong {
		return err
	}
	return console.Silent(console.Failed)
}

func (s System) names(_ context.Context, in *commands.Invocation) error {
	names := s.UnknownNames()
	return in.Emit(map[string]any{"unknown": names}, func() string {
		if len(names) == 0 {
			return "no request asked for an unknown name\n"
		}
		return "requests asked for " + strings.Join(names, ", ") + "; add those that are this controller's: ctl config set listeners.names '[" +
			strings.Join(names, ", ") + "]'\n"
	})
}

func (s System) showVersion(_ context.Context, in *commands.Invocation) error {
	return in.Emit(map[string]string{
		"version": s.Version,
		"commit":  s.Commit,
		"go":      runtime.Version(),
	}, func() string { return s.Version + "\n" })
}

func (s System) shutdownController(ctx context.Context, in *commands.Invocation) error {
	if !in.Flag("force") {
		ok, err := confirmQuestion(ctx, in, "Stop the controller? (yes/no): ")
		if err != nil {
			return err
		}
		if !ok {
			return fault.New(fault.InUse, "the controller stays")
		}
	}
	in.Printf("the controller stops\n")
	s.Shutdown()
	return nil
}

func (s System) showInfo(_ context.Context, in *commands.Invocation) error {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	addresses := map[string]string{}
	if s.Addresses != nil {
		addresses = s.Addresses()
	}
	up := time.Since(s.Started).Round(time.Second)
	data := map[string]any{
		"version":       s.Version,
		"commit":        s.Commit,
		"go":            runtime.Version(),
		"home":          s.Home,
		"started":       s.Started,
		"uptimeSeconds": int64(up.Seconds()),
		"listeners":     addresses,
		"goroutines":    runtime.NumGoroutine(),
		"heapBytes":     m.HeapAlloc,
		"processors":    runtime.NumCPU(),
	}
	return in.Emit(data, func() string {
		fields := []field{{"Version", strings.TrimSpace(s.Version + " " + s.Commit)}, {"Go", runtime.Version()}, {"Home", s.Home},
			{"Started", formatTime(s.Started) + " (" + up.String() + " ago)"}}
		for _, name := range []string{"http", "https", "ssh", "admin"} {
			fields = append(fields, field{strings.ToUpper(name[:1]) + name[1:], addresses[name]})
		}
		return formatFields(append(
			fields,
			field{"Memory", fmt.Sprintf(
				"%d MiB of heap, %d goroutines",
				m.HeapAlloc>>20,
				runtime.NumGoroutine(),
			)},
		))
	})
}
