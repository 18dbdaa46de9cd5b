package hostsvc

import (
	"context"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/internal/wire"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// Roles are held by one process among all nodes.
type Roles interface {
	// Hold waits until the holder has the role; the term ends with ctx, or earlier.
	Hold(ctx context.Context, role, holder string) (Term, error)
}

// Term is one time of holding a role.
type Term interface {
	// Epoch is the revision of the role's key, which only the holder has.
	Epoch() uint64
	// Until is CLOCK_BOOTTIME in nanoseconds until which the role is held for certain; 0 =
	// until it is released. It is a time that is over once the holder is asked to stop.
	Until() int64
	// Renewed gets a value when Until has changed.
	Renewed() <-chan struct{}
	// Lost is closed when the role is not held any more.
	Lost() <-chan struct{}
	// Condition holds in a transaction as long as the role is held.
	Condition() datastore.Compare
	// Drain asks the holder to stop; Draining reports that it was asked.
	Drain()
	Draining() bool
	// Release gives the role up.
	Release()
}

// drainTime is how long a process may take to give up a role that it is asked for.
const drainTime = 2 * time.Second

type rolesServer struct {
	pluginv1.UnimplementedHostRolesServer
	s *Server
}

// Hold gives the role to the process that calls, which its token distinguishes from the
// process before.
func (r *rolesServer) Hold(
	in *pluginv1.HoldRequest,
	out grpc.ServerStreamingServer[pluginv1.HoldResponse],
) error {
	if !slices.Contains(r.s.Manifest().GetRoles(), in.Role) {
		return fault.At(fault.Denied, in.Role, "the manifest does not list this role under `roles`")
	}
	token := tokenOf(out.Context())
	term, err := r.s.services.Roles.Hold(out.Context(), in.Role, r.s.plugin)
	if err != nil {
		return err
	}
	defer term.Release()
	r.s.setTerm(token, in.Role, term)
	defer r.s.setTerm(token, in.Role, nil)
	var drained <-chan time.Time
	for {
		err := out.Send(&pluginv1.HoldResponse{
			Epoch: term.Epoch(),
			Until: term.Until(),
		})
		if err != nil {
			return err
		}
		if drained == nil && term.Draining() {
			drained = time.After(drainTime)
		}
		select {
		case <-term.Renewed():
		case <-drained:
			return fault.New(
				fault.Unavailable,
				"the role %s is given to another process, and this one did not end its term within %s",
				in.Role,
				drainTime,
			)
		case <-term.Lost():
			return fault.New(
				fault.Unavailable,
				"the lease of this node has ended, and the role %s with it",
				in.Role,
			)
		case <-out.Context().Done():
			return out.Context().Err()
		}
	}
}

// tokenKey is where a call on a link has the token of the link.
type tokenKey struct{}

func tokenOf(ctx context.Context) string {
	if t, ok := ctx.Value(tokenKey{}).(string); ok {
		return t
	}
	if v := metadata.ValueFromIncomingContext(ctx, wire.MetaToken); len(v) == 1 {
		return v[0]
	}
	return ""
}

func (s *Server) setTerm(token, role string, term Term) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := token + "\x00" + role
	if term == nil {
		delete(s.terms, key)
		return
	}
	s.terms[key] = term
}

// Drain asks a process to give up all its roles, because another takes its place.
func (s *Server) Drain(token string) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for key, term := range s.terms {
		if strings.HasPrefix(key, token+"\x00") {
			term.Drain()
		}
	}
}

// roleCondition is the condition that the process that calls holds a role.
func (s *Server) roleCondition(ctx context.Context, role string) (datastore.Compare, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	term := s.terms[tokenOf(ctx)+"\x00"+role]
	if term == nil {
		return datastore.Compare{}, fault.New(
			fault.Denied,
			"this process does not hold the role %s, so nothing was written",
			role,
		)
	}
	return term.Condition(), nil
}
