package device

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"ctl.internal/internal/netconf"
	"ctl.internal/internal/netconf/xmltree"
	"ctl.internal/internal/together"
	"ctl.internal/plugins/bier-driver-ietf/dialect"
	"ctl.internal/sdk/bierdriver"
)

// link is the way to one router. take and give put its calls in order; the session
// and its dialect belong to who took it.
type link struct {
	set    Settings
	log    *slog.Logger
	router *bierdriver.Router
	turn   *semaphore.Weighted

	users int    // Driver.mu
	key   string // Driver.mu

	memory  *memory
	logins  *netconf.Logins
	session *netconf.Session
	dialect *dialect.Dialect
	caps    netconf.Capabilities
	sent    uint32 // requests of the call that goes on

	mu    sync.Mutex
	now   *bierdriver.Session
	fresh together.Signal // a session is opened
	known known
}

func newLink(s Settings, log *slog.Logger, r *bierdriver.Router) *link {
	return &link{
		set:    s,
		log:    log,
		router: r,
		turn:   semaphore.NewWeighted(1),
		now: &bierdriver.Session{
			State: bierdriver.Connecting,
			Since: timestamppb.Now(),
		},
	}
}

func (l *link) acquireTurn(ctx context.Context) error {
	return l.turn.Acquire(ctx, 1)
}

func (l *link) releaseTurn() {
	l.noticeSessionEnd()
	l.turn.Release(1)
}

// closeSoon closes a session within a second.
func closeSoon(s *netconf.Session, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := s.Close(ctx); err != nil { // it is over either way
		log.Debug("closing the session", "error", err)
	}
}

// sessionState is the session as callers see it.
func (l *link) sessionState() *bierdriver.Session {
	l.mu.Lock()
	defer l.mu.Unlock()
	return proto.CloneOf(l.now)
}

func (l *link) setState(state bierdriver.SessionState, reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &bierdriver.Session{
		State:        state,
		Reason:       reason,
		Since:        timestamppb.Now(),
		HostKey:      l.now.HostKey,
		Capabilities: l.caps,
	}
	if l.session != nil {
		s.HostKey = l.session.HostKey()
	}
	if l.dialect != nil {
		s.Dialect, s.Lacks = l.dialect.Name, l.missingAbilities()
	}
	if s.State == l.now.State && s.Reason == l.now.Reason {
		s.Since = l.now.Since
	}
	l.now = s
	if state == bierdriver.Up {
		l.fresh.Fire()
	}
}

// noticeSessionEnd sees that the session ended during a call.
func (l *link) noticeSessionEnd() {
	if l.session != nil && l.session.Err() != nil {
		l.setState(bierdriver.Down, l.session.Err().Error())
	}
}

// connect makes sure of a session and of a dialect. Its errors are for the user.
func (l *link) connect(ctx context.Context) error {
	if l.session != nil && l.session.Err() == nil {
		if l.dialect == nil {
			return errors.New(l.sessionState().Reason)
		}
		return nil
	}
	var s *netconf.Session
	err := l.logins.Do(ctx, l.netconfTarget(), l.set.Connect.Duration, func(ctx context.Context, t netconf.Target) (err error) {
		s, err = netconf.Dial(ctx, t)
		return err
	})
	if err != nil {
		l.session, l.dialect, l.caps = nil, nil, nil
		l.setState(stateOfError(err), err.Error())
		return err
	}
	if l.router.HostKey == "" {
		l.log.Warn("trusting the router's host key, seen for the first time", "key", s.HostKey())
	}
	l.session, l.caps = s, s.Capabilities()
	dial, cancel := context.WithTimeout(ctx, l.set.Connect.Duration)
	defer cancel()
	if l.dialect, err = l.chooseDialect(dial); err != nil {
		l.setState(bierdriver.Refused, err.Error())
		return err
	}
	l.setState(bierdriver.Up, "")
	return nil
}

func (l *link) netconfTarget() netconf.Target {
	r := l.router
	return netconf.Target{
		Host:       r.Host,
		Port:       int(r.Port),
		User:       r.User,
		Password:   r.Password,
		PrivateKey: []byte(r.PrivateKey),
		HostKey:    r.HostKey,
		MaxMessage: l.set.MaxBytes,
	}
}

// stateOfError is the state of a router that could not be reached.
func stateOfError(err error) bierdriver.SessionState {
	var other *netconf.HostKeyError
	if errors.Is(err, netconf.ErrLogin) || errors.As(err, &other) {
		return bierdriver.Refused
	}
	return bierdriver.Down
}

// callContext counts requests and bounds the time until they are answered.
func (l *link) callContext(
	ctx context.Context,
	requests int,
) (context.Context, context.CancelFunc) {
	l.sent += uint32(requests)
	return context.WithTimeout(ctx, l.set.RPC.Duration)
}

const (
	nsLibrary  = "urn:ietf:params:xml:ns:yang:ietf-yang-library"
	library10  = "urn:ietf:params:netconf:capability:yang-library:1.0"
	library11  = "urn:ietf:params:netconf:capability:yang-library:1.1"
	maxModules = 20_000
)

// chooseDialect finds the dialect. Routers with modules of YANG 1.1 do not name them in the
// hello but in the YANG library (RFC 7950 section 5.6.4), which is asked then.
func (l *link) chooseDialect(ctx context.Context) (*dialect.Dialect, error) {
	_, announced := l.caps.Module("ietf-bier")
	if !announced && (l.caps.Has(library10) || l.caps.Has(library11)) {
		if err := l.readYANGLibrary(ctx); err != nil {
			return nil, err
		}
	}
	return dialect.For(l.caps, l.router.Dialect)
}

// readYANGLibrary adds the modules of the YANG library, of RFC 7895 and of RFC 8525, to the
// capabilities, in the form of a hello.
func (l *link) readYANGLibrary(ctx context.Context) error {
	ask := netconf.GetOp(
		xmltree.New(nsLibrary, "modules-state"),
		xmltree.New(nsLibrary, "yang-library"),
	)
	data, err := l.sendOperation(ctx, ask).Data(ask)
	if err != nil {
		return err
	}
	sets := data.All(nsLibrary, "modules-state")
	for _, y := range data.All(nsLibrary, "yang-library") {
		sets = append(sets, y.All(nsLibrary, "module-set")...)
	}
	for _, set := range sets {
		for _, m := range set.All(nsLibrary, "module") {
			if len(l.caps) < maxModules {
				l.caps = append(
					l.caps,
					m.Value("namespace")+"?module="+m.Value("name")+"&revision="+m.Value("revision"),
				)
			}
		}
	}
	return nil
}
