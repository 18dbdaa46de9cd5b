// Package ldap is what realms over LDAP (RFC 4511) share: the realm itself (realm.go), names and
// filters made of user names without their being able to change the meaning (names.go), groups to
// roles (roles.go), the properties of sec.ini (settings.go), and a client with
// pooled connections, TLS and failover (client.go). What is looked up where is the
// business of each Directory.
package ldap

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	goldap "github.com/go-ldap/ldap/v3"

	"ctl.internal/sdk/realm"
	"ctl.internal/sdk/realm/trust"
)

// Client logs users in at a directory and searches it. It is safe for concurrent
// use.
type Client struct {
	s     Settings
	users *pool // connections on which users bind, one after the other
	sys   *pool // connections bound as the system account; nil without one
}

// New returns a client; it connects when it is first asked.
func New(s Settings, t *trust.Source) *Client {
	c := &Client{s: s, users: newPool(s, t, nil)}
	if s.SystemUser != "" {
		c.sys = newPool(s, t, func(conn *conn) error {
			if err := conn.bind(s.SystemUser, s.SystemPassword); err != nil {
				return fmt.Errorf("the system account cannot log in: %w", err)
			}
			return nil
		})
	}
	return c
}

// Close closes all connections.
func (c *Client) Close() error {
	c.users.close()
	if c.sys != nil {
		c.sys.close()
	}
	return nil
}

// Search finds entries; the callback of Login gets one.
type Search func(ctx context.Context, q Query) ([]*goldap.Entry, error)

// Query is a search of the subtree below Base, or of the entry Base alone.
type Query struct {
	Base, Filter string
	Attributes   []string
	Alone        bool
	Limit        int // entries; 0 = sizeLimit of the settings
}

// ErrSizeLimit is returned, with the entries that came, when there are more than allowed.
var ErrSizeLimit = errors.New("more entries than the sizeLimit allows")

// Login binds as name with password and then calls found, whose searches run as the
// system account, or as the user without a system account. The error is a *RefusedError
// when the server does not accept the credentials; any other means that it could not
// be asked. An empty password is refused without asking, because servers take it for
// an anonymous bind (RFC 4513 section 5.1.2).
func (c *Client) Login(
	ctx context.Context,
	name, password string,
	found func(context.Context, Search) error,
) error {
	if password == "" || name == "" {
		return &RefusedError{"an empty name or password"}
	}
	return c.users.useConnection(ctx, func(ctx context.Context, conn *conn) error {
		if err := conn.bind(name, password); err != nil {
			return bindError(err)
		}
		if found == nil {
			return nil
		}
		if c.sys == nil {
			return found(ctx, func(ctx context.Context, q Query) ([]*goldap.Entry, error) {
				return conn.search(ctx, q, c.s.SizeLimit)
			})
		}
		return found(ctx, c.search)
	})
}

// Find calls found with searches of the system account; realm.ErrNoFinder without one.
func (c *Client) Find(ctx context.Context, found func(context.Context, Search) error) error {
	if c.sys == nil {
		return realm.ErrNoFinder
	}
	return found(ctx, c.search)
}

func (c *Client) search(ctx context.Context, q Query) (entries []*goldap.Entry, err error) {
	err = c.sys.useConnection(ctx, func(ctx context.Context, conn *conn) error {
		entries, err = conn.search(ctx, q, c.s.SizeLimit)
		return err
	})
	return entries, err
}

// conn is a connection that one login has for itself. Time limits are not the
// library's, which costs a goroutine and a timer for each request: who uses a conn
// closes its raw connection when the time is over.
type conn struct {
	*goldap.Conn
	raw    net.Conn
	server int
	since  time.Time // unused since
}

// cut ends the connection at once, whatever it is waiting for.
func (c *conn) cut() { _ = c.raw.Close() }

func (c *conn) bind(name, password string) error {
	r, err := c.SimpleBind(&goldap.SimpleBindRequest{
		Username: name,
		Password: password,
		Controls: []goldap.Control{goldap.NewControlBeheraPasswordPolicy()},
	})
	why := policySays(r)
	if why != "" && (err == nil || isCredentials(err)) {
		return &RefusedError{why}
	}
	return err
}

func (c *conn) search(ctx context.Context, q Query, limit int) ([]*goldap.Entry, error) {
	if q.Limit > 0 {
		limit = min(limit, q.Limit)
	}
	left, scope := remainingTime(ctx), goldap.ScopeWholeSubtree
	if q.Alone {
		scope = goldap.ScopeBaseObject
	}
	request := goldap.NewSearchRequest(q.Base, scope, goldap.NeverDerefAliases, limit, int(left/time.Second)+1, false,
		q.Filter, q.Attributes, nil)
	request.EnforceSizeLimit = true
	r, err := c.Search(request)
	code, _ := resultCode(err)
	if errors.Is(err, goldap.ErrSizeLimitExceeded) || code == goldap.LDAPResultSizeLimitExceeded {
		return r.Entries, ErrSizeLimit
	}
	if err != nil {
		return nil, serverError(err)
	}
	return r.Entries, nil // referrals in r are not followed
}

// remainingTime is the time left, a minute if no limit is set.
func remainingTime(ctx context.Context) time.Duration {
	if t, ok := ctx.Deadline(); ok {
		return max(time.Until(t), time.Millisecond)
	}
	return time.Minute
}
