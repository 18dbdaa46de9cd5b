package aaa

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/home"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/commands"
)

// maxKeysFile bounds what is read of a file of keys, in bytes.
const maxKeysFile = 1 << 20

// fileClock is how far the time of a file may lie behind that of the process.
const fileClock = 50 * time.Millisecond

// Key returns the user of a login by an SSH key. A key is data of the identity: it ends with its user.
func (c *Console) Key(
	ctx context.Context,
	user string,
	key ssh.PublicKey,
	address string,
) (caller.Caller, error) {
	id := user + "@" + identity.SDN
	c.a.takeKeys(
		caller.With(ctx, caller.Caller{
			User:    user,
			Domain:  identity.SDN,
			Address: address,
		}),
		user,
	)
	p, err := c.a.identity.ByKey(ctx, id, key)
	if err != nil {
		return caller.Caller{}, err
	}
	return c.callerOfPrincipal(p), nil
}

// takeKeys moves the keys of a file DIR/USER, as earlier releases read it, into the identity of its user. A file that
// is older than the user was another's of the same name. What is wrong is logged, and the file left.
func (a *AAA) takeKeys(ctx context.Context, user string) {
	if a.o.KeysDir == "" || user == "" || user[0] == '.' || strings.ContainsAny(user, "/\\\x00") {
		return
	}
	file := filepath.Join(a.o.KeysDir, user)
	info, err := os.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	log := a.log.With("file", file)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o022 != 0 {
		log.WarnContext(
			ctx,
			"a file of SSH keys is not read: it must be a regular file that only its owner may write (chmod go-w)",
			"error",
			err,
		)
		return
	}
	id := user + "@" + identity.SDN
	newer, err := a.identity.CreatedAfter(ctx, id, info.ModTime().Add(fileClock))
	if err != nil || newer {
		log.WarnContext(ctx, "a file of SSH keys is not read: its user does not exist, or was made after it, so the keys may be of another user of the name; add keys with access:key-add",
			"user", user, "error", err)
		return
	}
	text, err := home.ReadBounded(file, maxKeysFile)
	if err != nil {
		log.WarnContext(ctx, "a file of SSH keys cannot be read", "error", err)
		return
	}
	for line := range bytes.Lines(text) {
		line := strings.TrimSpace(string(line))
		if line == "" || line[0] == '#' {
			continue
		}
		if _, err := a.identity.AddKey(ctx, id, line); err != nil {
			log.WarnContext(ctx, "a line of a file of SSH keys gives no access", "error", err)
		}
	}
	// Renamed, so that it is taken over once and ends with the user.
	if err := os.Rename(
		file,
		filepath.Join(a.o.KeysDir, "."+user+".taken-"+a.o.Now().UTC().Format("20060102T150405")),
	); err != nil {
		log.WarnContext(
			ctx,
			"a file of SSH keys was taken over and cannot be renamed",
			"error",
			err,
		)
		return
	}
	log.InfoContext(
		ctx,
		"a file of SSH keys was taken over into the identities; access:key-list shows them",
		"user",
		user,
	)
}

// takeAllKeys does so for the files of all users, at the start.
func (a *AAA) takeAllKeys(ctx context.Context) {
	if a.o.KeysDir == "" {
		return
	}
	entries, err := os.ReadDir(a.o.KeysDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		a.log.WarnContext(ctx, "the files of SSH keys cannot be listed", "error", err)
	}
	for _, e := range entries {
		a.takeKeys(ctx, e.Name())
	}
}

// keyCommands are access:key-add, -list and -remove, for administrators.
func (a *AAA) keyCommands() []commands.Command {
	user := commands.Argument{
		Name:     "user",
		Help:     "NAME or NAME@DOMAIN",
		Required: true,
	}
	return []commands.Command{
		{
			Name:    "access:key-add",
			Summary: "give a user an SSH key to log in with",
			Run:     a.keyAddCommand,
			Help:    "The key is a line of OpenSSH's form, such as that of ~/.ssh/id_ed25519.pub, in quotes. It ends with its user.\naccess:key-add bob \"ssh-ed25519 AAAAC3Nz… bob@laptop\"",
			Arguments: []commands.Argument{user, {
				Name:     "key",
				Help:     "the public key, a line in quotes",
				Required: true,
			}},
		},
		{
			Name:    "access:key-list",
			Summary: "show the SSH keys of a user, or of all",
			Safe:    true,
			Run:     a.keyListCommand,
			Arguments: []commands.Argument{{
				Name: "user",
				Help: "NAME or NAME@DOMAIN; absent = all",
			}},
		},
		{
			Name:    "access:key-remove",
			Summary: "take an SSH key from a user",
			Run:     a.keyRemoveCommand,
			Help:    "The connections that were made with it end within seconds.\naccess:key-remove bob SHA256:…",
			Arguments: []commands.Argument{user, {
				Name:     "key",
				Help:     "its fingerprint",
				Required: true,
			}},
		},
	}
}

func userID(name string) string {
	if strings.Contains(name, "@") {
		return name
	}
	return name + "@" + identity.SDN
}

func (a *AAA) keyAddCommand(ctx context.Context, in *commands.Invocation) error {
	k, err := a.identity.AddKey(caller.With(ctx, in.Caller), userID(in.Arg("user")), in.Arg("key"))
	if err != nil {
		return err
	}
	return in.Emit(k, func() string {
		return "the key " + k.Fingerprint + " may log in\n"
	})
}

func (a *AAA) keyRemoveCommand(ctx context.Context, in *commands.Invocation) error {
	err := a.identity.RemoveKey(caller.With(ctx, in.Caller), userID(in.Arg("user")), in.Arg("key"))
	if err != nil {
		return err
	}
	return in.Emit(map[string]string{"removed": in.Arg("key")}, func() string {
		return "the key may not log in any more\n"
	})
}

func (a *AAA) keyListCommand(ctx context.Context, in *commands.Invocation) error {
	var ids []string
	if name := in.Arg("user"); name != "" {
		ids = []string{userID(name)}
	} else {
		users, err := a.identity.Users(ctx, identity.Page{})
		if err != nil {
			return err
		}
		for _, u := range users {
			ids = append(ids, u.ID())
		}
	}
	t := &commands.Table{
		Empty: "No keys",
		Columns: []commands.Column{{
			Title: "User",
			Key:   "user",
		}, {Title: "Fingerprint", Key: "fingerprint"},
			{
				Title: "Type",
				Key:   "type",
			}, {
				Title: "Comment",
				Key:   "comment",
			}, {Title: "Added", Key: "added"}},
	}
	for _, id := range ids {
		keys, err := a.identity.Keys(ctx, id)
		if err != nil {
			return err
		}
		for _, k := range keys {
			t.Add(id, k.Fingerprint, k.Type, k.Comment, k.Added.Format(time.RFC3339))
		}
	}
	return in.Emit(t, nil)
}
