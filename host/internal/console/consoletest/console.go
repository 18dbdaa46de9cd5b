package consoletest

import (
	"bytes"
	"context"
	"crypto/subtle"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"

	"golang.org/x/crypto/ssh"

	"ctl.internal/host/internal/console/engine"
	"ctl.internal/host/internal/console/files"
	"ctl.internal/host/internal/console/history"
	"ctl.internal/host/internal/console/sshserver"
	"ctl.internal/host/internal/console/tables"
	"ctl.internal/sdk/caller"
)

// Users is a Login over fixed users, whose password is their name and "-secret".
type Users struct {
	mu    sync.Mutex
	roles map[string][]string
	keys  map[string]ssh.PublicKey
}

// NewUsers knows admin, of role admin, and user, of role user.
func NewUsers() *Users {
	return &Users{
		roles: map[string][]string{
			"admin": {"admin"},
			"user":  {"user"},
		},
		keys: map[string]ssh.PublicKey{},
	}
}

// Remove takes a user away.
func (u *Users) Remove(name string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.roles, name)
}

// Password implements sshserver.Login.
func (u *Users) Password(_ context.Context, user, password, _ string) (
	caller.Caller,
	func(context.Context) (caller.Caller, error),
	error,
) {
	if subtle.ConstantTimeCompare([]byte(password), []byte(user+"-secret")) != 1 {
		return caller.Caller{}, nil, errors.New("wrong password")
	}
	who, err := u.lookUp(user)
	return who, func(context.Context) (caller.Caller, error) { return u.lookUp(user) }, err
}

// Key implements sshserver.Login: a user's key is the one that Trust was called with.
func (u *Users) Key(
	_ context.Context,
	user string,
	key ssh.PublicKey,
	_ string,
) (caller.Caller, error) {
	u.mu.Lock()
	trusted := u.keys[user]
	u.mu.Unlock()
	if trusted == nil || !bytes.Equal(trusted.Marshal(), key.Marshal()) {
		return caller.Caller{}, errors.New("the key is not one of the user's")
	}
	return u.lookUp(user)
}

// Trust gives a user the only key to log in with; nil = none.
func (u *Users) Trust(user string, key ssh.PublicKey) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.keys[user] = key
}

// lookUp returns a user as of now.
func (u *Users) lookUp(user string) (caller.Caller, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	roles, ok := u.roles[user]
	if !ok {
		return caller.Caller{}, errors.New("no such user")
	}
	return caller.Caller{
		User:   user,
		Domain: "sdn",
		Roles:  roles,
	}, nil
}

// Console is a console in a home of its own.
type Console struct {
	Home      string
	Commands  *Commands
	Users     *Users
	Histories *history.Store
	Server    *sshserver.Server
	// Shutdown is called by system:shutdown; set it before serving.
	Shutdown func()

	mu      sync.Mutex
	audited []engine.Audited
}

// New makes a console in home; change lets a test set limits. The caller opens
// listeners and serves.
func New(home string, log *slog.Logger, change func(*sshserver.Config)) (*Console, error) {
	c := &Console{
		Home:      home,
		Commands:  NewCommands(),
		Users:     NewUsers(),
		Histories: history.New(filepath.Join(home, "data", "history"), 1000),
	}
	shell := engine.New(engine.Config{
		Sources: []engine.Source{c.Commands.Commands, engine.Static(tables.SystemCommands(tables.System{Shutdown: func() {
			c.Shutdown()
		}}))},
		Log:          log,
		Audit:        c.recordAudit,
		NewRequestID: func() string { return "r1" },
	})
	cfg := sshserver.Config{
		Shell:       shell,
		Histories:   c.Histories,
		Login:       c.Users,
		Log:         log,
		HostKeyFile: filepath.Join(home, "data", "ssh_host_key"),
		InitScript:  filepath.Join(home, "etc", "shell.init.script"),
		Files:       files.New(home, nil),
	}
	if change != nil {
		change(&cfg)
	}
	var err error
	c.Server, err = sshserver.New(cfg)
	return c, err
}

// Socket is where the local console listens, as ctl expects it.
func (c *Console) Socket() string {
	return filepath.Join(c.Home, "data", "run", "console.sock")
}

func (c *Console) recordAudit(_ context.Context, a engine.Audited) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.audited = append(c.audited, a)
}

// Audited returns what was audited so far.
func (c *Console) Audited() []engine.Audited {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]engine.Audited{}, c.audited...)
}
