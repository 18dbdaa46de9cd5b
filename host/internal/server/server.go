// Package server wires the rooms of the host into a running controller: it opens
// the home, starts the plugins of the installed features, opens the listeners and
// ends everything in order. What a request means is decided below, in restconf,
// aaa and the plugins; nothing here knows a device.
package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/idm"
	"ctl.internal/host/internal/aaa/password"
	"ctl.internal/host/internal/aaa/throttle"
	"ctl.internal/host/internal/cluster"
	"ctl.internal/host/internal/console/engine"
	"ctl.internal/host/internal/console/sshserver"
	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/open"
	"ctl.internal/host/internal/feature"
	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/keys/encrypt"
	"ctl.internal/host/internal/lease"
	"ctl.internal/host/internal/logs"
	"ctl.internal/host/internal/notify"
	"ctl.internal/host/internal/plugin"
	"ctl.internal/host/internal/plugin/events"
	"ctl.internal/host/internal/plugin/hostsvc"
	"ctl.internal/host/internal/plugin/process"
	"ctl.internal/host/internal/plugin/topomirror"
	"ctl.internal/host/internal/restconf"
	"ctl.internal/host/internal/server/tracing"
	"ctl.internal/host/internal/troubles"
	"ctl.internal/host/internal/web"
)

// Server is a running controller: the rooms and what connects them.
type Server struct {
	home           home.Dir
	inode          uint64 // of the home
	loaded         *home.Loaded
	registry       *logs.Registry
	audit          *logs.Audit
	refusals       refusals
	lockouts       lockoutCounts
	sealed         atomic.Pointer[logs.AuditHeads] // that are in the datastore
	log            *slog.Logger
	options        Options
	firstPasswords identity.First

	raw         datastore.Store                // the engine: documents with secrets are sealed
	store       datastore.Store                // everything that must survive
	configStore datastore.Store                // the same, followed by access control
	clusterID   string                         // of the store, in Ctl-Revision
	back        atomic.Pointer[datastore.Back] // when its cluster was set back last; nil = never
	roles       *lease.Manager
	identity    cluster.Identity
	cluster     *cluster.Node
	secrets     *encrypt.Service
	certs       *certificates
	bus         *events.Bus
	plugins     *plugin.Manager
	features    *feature.Manager
	catalog     *catalog
	aaa         *aaa.AAA
	restconf    *restconf.Handler
	router      *router
	browsers    *browsers
	console     *sshserver.Server
	shell       *engine.Shell
	invoker     invoker

	realmInstances  realmInstances
	refreshing      sync.Mutex
	applying        sync.Mutex // of policies: read and put into force as one step
	seen            seen
	featuresChanged chan struct{}

	troubles        *troubles.Registry
	notifier        *notify.Notifier
	topologiesSeen  atomic.Pointer[map[string]topomirror.Seen] // by id, on the node that writes them; nil: it is another
	disks           *diskWatch
	gaveUp          atomic.Bool // the controller ends because its disk failed
	inFlight        inFlight
	http            *httpMetrics
	storeMetrics    *storeMetrics
	tracer          *tracing.Tracer // nil: no spans are sent
	listeners       []*listener
	sshAddress      net.Addr
	clusterListener net.Listener // nil: other nodes cannot call this one
	ids             *ids
	began           time.Time

	// The work that goes on beside the listeners, ended by cancel.
	cancel context.CancelFunc
	work   sync.WaitGroup
}

// firstPasswords takes the passwords of the first start out of the environment.
func firstPasswords() *identity.First {
	f := &identity.First{
		Admin: os.Getenv("CTL_ADMIN_PASSWORD"),
		User:  os.Getenv("CTL_USER_PASSWORD"),
	}
	os.Unsetenv("CTL_ADMIN_PASSWORD")
	os.Unsetenv("CTL_USER_PASSWORD")
	return f
}

// start builds the rooms from the lowest to the highest and opens the listeners
// last. After an error, stop ends what there is.
func (s *Server) start(ctx context.Context) error {
	s.began, s.ids, s.http = time.Now(), newIDs(), newHTTPMetrics()
	s.noteProgramDir()
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.cancel = cancel
	s.runInBackground(run, "memory limit", func(ctx context.Context) error {
		return followMemory(ctx, s.log, "/")
	})
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"audit", s.openAudit},
		{"datastore", s.openStore},
		{"certificates", s.openCertificates},
		{"access control", s.openAAA},
		{"tracing", s.openTracing},
		{"cluster", s.openCluster},
		{"plugins", s.openPlugins},
		{"RESTCONF", s.openRESTCONF},
		{"features", s.openFeatures},
		{"notifications", s.openNotifications},
		{"console", s.openConsole},
		{"profiler", s.openProfiler},
		{"listeners", s.openListeners},
	} {
		if err := ctx.Err(); err != nil {
			return err
		}
		began := time.Now()
		if err := step.do(run); err != nil {
			if strings.HasPrefix(err.Error(), step.name+": ") {
				return err // it says so itself
			}
			return fmt.Errorf("%s: %w", step.name, err)
		}
		s.log.Debug("started", "part", step.name, "took", time.Since(began))
	}
	s.recordStart(run)
	return nil
}

// runInBackground runs f until stop; f ends with its context.
func (s *Server) runInBackground(ctx context.Context, name string, f func(context.Context) error) {
	s.work.Go(func() {
		if err := f(ctx); err != nil && ctx.Err() == nil {
			s.log.Error("a part of the controller ended", "part", name, "error", err)
		}
	})
}

// stop ends everything, from the highest room to the lowest.
func (s *Server) stop(ctx context.Context) error {
	var wg sync.WaitGroup
	for _, l := range s.listeners {
		wg.Go(func() { l.shutdown(ctx) })
	}
	wg.Wait()
	if s.cancel != nil {
		s.cancel()
	}
	var errs []error
	if s.plugins != nil {
		errs = append(errs, s.plugins.Close(ctx))
	}
	if s.tracer != nil { // after the plugins, which send their last spans by it
		if err := s.tracer.Close(ctx); err != nil {
			s.log.Warn("the last spans were not sent", "error", err)
		}
	}
	s.work.Wait()
	if s.audit != nil {
		s.flushFolded(time.Now(), true)
		s.writeAudit(
			logs.AuditRecord{
				What:    "stop",
				Object:  "controller " + Version(),
				Outcome: passed,
				Class:   logs.ClassAccess,
			},
			true,
		)
	}
	s.sealHead(ctx)
	s.closeCluster()
	if s.store != nil {
		errs = append(errs, s.store.Close())
	}
	if s.audit != nil {
		errs = append(errs, s.audit.Close())
	}
	_ = os.Remove(s.home.Run("ssh.addr"))
	_ = os.Remove(s.home.Run(certificateFile))
	return errors.Join(errs...)
}

func (s *Server) openStore(ctx context.Context) error {
	settings := s.loaded.Datastore
	var err error
	if settings.Etcd.Password, err = encrypt.OpenBefore(s.home, settings.Etcd.Password); err != nil {
		return fmt.Errorf(
			"datastore.etcd.password: %w; put the file of the key back, or start once with the password in CTL_DATASTORE_ETCD_PASSWORD",
			err,
		)
	}
	s.storeMetrics = newStoreMetrics()
	if s.raw, err = open.Store(
		ctx,
		s.home,
		settings,
		s.registry.Logger("org.ctl.datastore"),
		s.wentBack,
	); err != nil {
		return err
	}
	s.store = datastore.Bound(s.raw, storeLimit, s.storeMetrics.observeOperation)
	if err := s.openSecrets(ctx); err != nil {
		return err
	}
	if err := s.openStoreID(ctx); err != nil {
		return err
	}
	s.configStore = s.decidingStore()
	s.disks = newDiskWatch(s.home, settings)
	s.runInBackground(ctx, "disks", s.watchDisks)
	return nil
}

func (s *Server) openAAA(ctx context.Context) error {
	ini, err := home.ReadRegular(s.home.Etc("sec.ini"))
	if err != nil {
		return err
	}
	authn, err := home.ReadRegular(s.home.Etc("ctl", "karaf", "08-authn-config.xml"))
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	c := s.loaded.AAA
	blocked, err := readBlocked(s.home, c.PasswordBlocked)
	if err != nil {
		return err
	}
	var common password.Blocklist
	if c.PasswordCommon {
		if common, err = password.Common(); err != nil {
			return err
		}
	}
	s.aaa, err = aaa.New(ctx, aaa.Options{
		Blocked:          blocked,
		Common:           common,
		PasswordHistory:  c.PasswordHistory,
		ChangeGiven:      c.ChangeGiven,
		PasswordMaxAge:   c.PasswordMaxAge,
		ChangeFirst:      c.ChangeFirst,
		Store:            s.store,
		Sealer:           s.secrets,
		SecINI:           ini,
		SecININame:       s.home.Etc("sec.ini"),
		AuthnConfig:      authn,
		First:            s.firstPasswords,
		TokenLifetime:    c.TokenLifetime,
		TokensPerUser:    c.TokensPerUser,
		MinPassword:      c.PasswordMinimum,
		RoleDeniedStatus: c.RoleDeniedStatus,
		Passwords: password.Params{
			MemoryKiB: uint32(c.Argon2.Memory >> 10),
			Time:      uint32(c.Argon2.Time),
			Threads:   uint8(c.Argon2.Threads),
		},
		ParallelLogins: c.Argon2.Parallel,
		Throttle: throttle.Settings{
			UserFree:   c.Throttle.After,
			FirstDelay: c.Throttle.Delay,
			MaxDelay:   c.Throttle.MaxDelay,
			Forget:     c.Throttle.Forget,
		},
		LoginCache: outsideLogins(c.LoginCache),
		Sessions: idm.Sessions{
			Idle:  c.Session.Idle,
			Life:  c.Session.Life,
			Plain: c.Session.PlainHTTP,
		},
		Page:       web.Refusal,
		Unusable:   answerUnusable,
		Deleted:    web.Forget,
		Realms:     realms{s},
		RealmKinds: c.RealmKinds,
		Names:      s.otherNames,
		MadeOf:     s.madeOf,
		Canonical:  s.canonicalPath,
		StoreRole:  s.storeRole,
		ActsOn:     s.actsOn,
		Touched:    s.touchedAt,
		Ports:      s.findPorts,
		StoreRight: s.storeRight,
		Routes:     s.otherRoutes,
		KeysDir:    s.home.Etc("authorized_keys"),
		LockedOut:  s.lockedOut,
		Logger:     s.loggerFor,
		RequestID:  requestID,
		Waiting:    s.inFlight.releaseWhileWaiting,
	})
	s.firstPasswords = identity.First{}
	if err != nil {
		return err
	}
	s.runInBackground(ctx, "access control", s.aaa.Run)
	return nil
}

// readBlocked reads the forbidden passwords.
func readBlocked(dir home.Dir, file string) (password.Blocklist, error) {
	if file == "" {
		return nil, nil
	}
	f, err := home.OpenRegular(dir.Path(file))
	if err != nil {
		return nil, fmt.Errorf("aaa.passwordBlocked: %w", err)
	}
	defer f.Close()
	list, err := password.ReadBlocklist(f)
	if err != nil {
		return nil, fmt.Errorf("aaa.passwordBlocked: %s: %w", dir.Path(file), err)
	}
	return list, nil
}

// openTracing makes what sends spans, if there is a collector.
func (s *Server) openTracing(ctx context.Context) (err error) {
	if e := s.loaded.Tracing.Endpoint; e != "" {
		if s.tracer, err = tracing.New(
			ctx,
			e,
			Version(),
			s.registry.Logger("org.ctl.server"),
		); err != nil {
			return fmt.Errorf("tracing.endpoint: %w", err)
		}
	}
	return nil
}

func (s *Server) openPlugins(ctx context.Context) error {
	c := s.loaded.Supervisor
	limits := plugin.DefaultLimits
	limits.StartTimeout, limits.CallTimeout, limits.StopGrace = c.StartTimeout, c.CallTimeout, cmp.Or(c.StopGrace, limits.StopGrace)
	restarts := plugin.DefaultPolicy
	restarts.FirstDelay, restarts.MaxDelay = c.Backoff, c.MaxBackoff
	limits.InFlight, limits.AllInFlight = c.InFlight, max(1, s.loaded.Limits.InFlight*3/4)
	s.bus, s.troubles = events.New(), s.newTroubles()
	var err error
	var spans hostsvc.Spans
	if s.tracer != nil {
		spans = s.tracer
	}
	s.plugins, err = plugin.New(plugin.Options{
		Node:         s.identity.ID,
		RunDir:       s.home.Run("plugins"),
		DataDir:      s.home.Data("plugins"),
		Home:         string(s.home),
		Directories:  s.loaded.Console.Directories,
		Logger:       s.registry.Logger,
		Settings:     s.pluginSettings,
		Store:        s.store,
		Trees:        trees{s},
		Roles:        roles{s.roles},
		Forward:      s.forwardConn,
		Secrets:      s.secrets,
		Certificates: s.certs,
		Operations:   pluginCalls{s},
		Troubles:     s.takeTroubles,
		Bus:          s.bus,
		Spans:        spans,
		Policy:       restarts,
		Limits:       limits,
		Reserved:     reservedPaths(),
		OwnsCommand:  s.ownsCommand,
		Isolation:    c.Isolation,
		Refused:      s.noteRefusedGrant,
		Crashed:      s.crashed,
		Behind:       s.sourceBehind,
		Disk:         int64(c.Disk),
		Quota: process.Quota{
			Memory:    int64(c.Memory),
			Processes: c.Processes,
			CPUWeight: c.CPUWeight,
		},
	})
	if err != nil {
		return err
	}
	s.serveCluster()
	s.aaa.Accounting().Listen(func() bool {
		return s.bus.Wanted(accountingStream)
	}, s.publishAccounting)
	return nil
}

// pluginSettings reads etc/NAME.yaml as the plugin's manifest describes it.
func (s *Server) pluginSettings(name string, schema []byte) ([]byte, error) {
	text, path, err := s.home.PluginConfig(name)
	if err != nil {
		return nil, err
	}
	d := home.ReadDocument(path, text, schema)
	if err := home.Fatal(d.Problems()); err != nil {
		return nil, err
	}
	for _, p := range d.Problems() {
		s.log.Warn("settings of a plugin", "plugin", name, "problem", p.String())
	}
	config, err := s.secrets.OpenJSON(d.JSON)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return config, nil
}
