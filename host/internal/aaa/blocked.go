package aaa

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// blockedNamespace holds the subjects of other realms that may not log in here: REALM/ACCOUNT -> blockedSubject.
const blockedNamespace = "aaa-blocked"

// blockedSubject is a user of another realm who may not log in here.
type blockedSubject struct {
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// blockedSubjects are all of them.
type blockedSubjects struct {
	store datastore.Store
	now   atomic.Pointer[map[string]blockedSubject]
}

// load reads what is stored.
func (b *blockedSubjects) load(ctx context.Context) error {
	found := map[string]blockedSubject{}
	err := b.store.View(ctx, func(sn datastore.Snapshot) error {
		for e, err := range sn.Range(blockedNamespace, datastore.RangeOptions{}) {
			if err != nil {
				return err
			}
			var one blockedSubject
			if err := json.Unmarshal(e.Value, &one); err != nil {
				return fmt.Errorf("the block of %s: %w", e.Key, err)
			}
			found[e.Key] = one
		}
		return nil
	})
	if err == nil {
		b.now.Store(&found)
	}
	return err
}

// follow keeps up with what other nodes of a cluster change, until ctx ends.
func (b *blockedSubjects) follow(ctx context.Context) error {
	changed := func(ctx context.Context, _ *datastore.Batch) error { return b.load(ctx) }
	return datastore.Changed(
		ctx,
		b.store,
		[]datastore.Prefix{{Namespace: blockedNamespace}},
		changed,
	)
}

func subjectKey(realm, account string) string {
	return realm + "/" + account
}

// has reports whether an account of a realm is blocked.
func (b *blockedSubjects) has(realm, account string) bool {
	_, blocked := (*b.now.Load())[subjectKey(realm, account)]
	return blocked
}

// change writes or removes blocks; they hold when it returns.
func (b *blockedSubjects) change(ctx context.Context, op datastore.Op) error {
	if _, err := b.store.Commit(ctx, datastore.Txn{Ops: []datastore.Op{op}}); err != nil {
		return err
	}
	return b.load(ctx)
}

// subject reads REALM/NAME, of a realm of etc/sec.ini.
func (a *AAA) subject(text string) (key string, err error) {
	realm, user, ok := strings.Cut(text, "/")
	if !ok || user == "" {
		return "", fault.New(
			fault.Invalid,
			"%q is not REALM/NAME; a user of this controller is disabled by PUT /auth/v1/users/ID with enabled false",
			text,
		)
	}
	outside := a.authn.OutsideRealms()
	if !slices.Contains(outside, realm) {
		return "", fault.New(
			fault.NotFound,
			"etc/sec.ini has no realm %q with users of its own; there are: %s",
			realm,
			strings.Join(outside, ", "),
		)
	}
	name, domain, _ := strings.Cut(user, "@")
	return subjectKey(realm, a.authn.Account(name, domain)), nil
}

// blockCommands are access:block and access:blocked; access:unblock ends a block.
func (a *AAA) blockCommands() []commands.Command {
	return []commands.Command{
		{
			Name:    "access:block",
			Summary: "keep a user of another realm from logging in here",
			Help:    "access:block ldapRealm/ann\nSessions and tokens of the user end at once. access:unblock ldapRealm/ann ends it.",
			Run:     a.blockCommand,
			Arguments: []commands.Argument{
				{
					Name:     "subject",
					Help:     "REALM/NAME, with the name of the realm in etc/sec.ini",
					Required: true,
				},
			},
		},
		{
			Name:    "access:blocked",
			Summary: "show the users of other realms that may not log in here",
			Safe:    true,
			Run:     a.blockedCommand,
		},
	}
}

func (a *AAA) blockCommand(ctx context.Context, in *commands.Invocation) error {
	key, err := a.subject(in.Arg("subject"))
	if err != nil {
		return err
	}
	value, err := json.Marshal(blockedSubject{
		By: in.Caller.ID(),
		At: a.o.Now().UTC(),
	})
	if err != nil {
		return err
	}
	if err := a.blocked.change(ctx, datastore.Put(blockedNamespace, key, value)); err != nil {
		return err
	}
	a.recorder.Change(caller.With(ctx, in.Caller), "block subject", key)
	return in.Emit(map[string]string{"blocked": key}, func() string {
		return key + " may not log in any more\n"
	})
}

func (a *AAA) blockedCommand(_ context.Context, in *commands.Invocation) error {
	t := &commands.Table{
		Empty: "Nobody is blocked",
		Columns: []commands.Column{
			{Title: "Subject", Key: "subject"},
			{Title: "By", Key: "by"},
			{Title: "Since", Key: "since"},
		},
	}
	all := *a.blocked.now.Load()
	for _, key := range slices.Sorted(maps.Keys(all)) {
		t.Add(key, all[key].By, all[key].At.Format(time.RFC3339))
	}
	return in.Emit(t, nil)
}

// unblockSubject ends a block.
func (a *AAA) unblockSubject(ctx context.Context, in *commands.Invocation, text string) error {
	key, err := a.subject(text)
	if err != nil {
		return err
	}
	if _, blocked := (*a.blocked.now.Load())[key]; !blocked {
		return fault.New(fault.NotFound, "%s is not blocked", key)
	}
	if err := a.blocked.change(ctx, datastore.Delete(blockedNamespace, key)); err != nil {
		return err
	}
	a.recorder.Change(caller.With(ctx, in.Caller), "unblock subject", key)
	return in.Emit(map[string]string{"unblocked": key}, func() string {
		return key + " may log in again\n"
	})
}
