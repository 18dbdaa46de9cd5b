package process

import (
	"log/slog"
	"sync/atomic"
	"time"

	"ctl.internal/internal/wire"
)

// Spec says what to run.
type Spec struct {
	Name   string
	Path   string   // of the executable
	Args   []string // after the program's name
	SHA256 string   // in hex, of the file; empty = not checked
	Sums   *Sums    // of files that were hashed before
	Env    []string // "NAME=value", besides what every plugin gets

	Dir     string // private directory of the plugin, for sockets; made if absent
	DataDir string // the plugin's own, survives restarts; made if absent; its working directory

	HostSocket string // unix socket of the host's services

	StartTimeout time.Duration // from exec to handshake
	Logger       *slog.Logger
	LogRate      int            // lines a second that are carried on
	LogLost      *atomic.Uint64 // counts the lines that were not; nil = they are not counted

	// Isolate restricts the process; nil = not.
	Isolate *Isolate

	// Keeper ends all that the process leaves; nil = only its process group ends with it.
	Keeper *Keeper

	// Attach connects to a process that runs already, under a debugger.
	Attach *wire.Reattach
}

const (
	// A plugin that was asked to stop and has answered must be gone after this.
	exitGrace = 2 * time.Second
	// What remains in the pipes of a dead process is read for so long: one of its
	// children, in a group of its own, may hold them open for ever.
	drainGrace = 500 * time.Millisecond
)
