package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"ctl.internal/host/internal/aaa"
	certrpc "ctl.internal/host/internal/keys/keystore/rpc"
	"ctl.internal/host/internal/restconf"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	httproutes "ctl.internal/sdk/routes"
)

// openRESTCONF makes the schema of the host's own modules, the handler of the trees
// and the mux after access control.
func (s *Server) openRESTCONF(ctx context.Context) error {
	own, err := hostModules()
	if err != nil {
		return err
	}
	if s.catalog, err = newCatalog(own, s.registry.Logger("org.ctl.restconf")); err != nil {
		return err
	}
	s.secrets.UseSchema(s.catalog.holdsSecret)
	s.invoker = invoker{
		s:    s,
		host: certrpc.Handlers(s.certs.ensureKeystores),
	}
	maps.Copy(s.invoker.host, s.systemOperations())
	maps.Copy(s.invoker.host, s.notifyOperations())
	s.restconf = restconf.New(restconf.Options{
		Catalog:    s.catalog,
		Invoker:    s.invoker,
		Store:      s.configStore,
		Owners:     s.ownersOf,
		Current:    s.checkCurrent,
		Events:     s.streamEvents,
		Validators: s.treeValidators(),
		Log:        s.registry.Logger("org.ctl.restconf"),
		MaxBody:    int64(s.loaded.Limits.Body),
		Waiting:    s.inFlight.releaseWhileWaiting,
		Still:      aaa.Still,
		Readable:   aaa.Readable,
		Visible:    s.eventVisible,
		Opens:      s.opens,
		Renew:      aaa.Renew,
		MayFollow:  s.mayRead,
		Absent: func(module string) error {
			return s.plugins.Absent(func(m *pluginv1.Manifest) bool {
				return slices.ContainsFunc(m.YangModules, func(y *pluginv1.YangModule) bool {
					name, _, _ := strings.Cut(y.Name, "@")
					return name == module
				})
			})
		},
	})
	for _, node := range policyNodes {
		_ = s.applyPolicies(ctx, node) // unreadable ones deny
	}
	s.mirrorSettings(ctx)
	s.followPolicies(ctx)
	s.router = newRouter(s.hostRoutes, s.pluginRoutes)
	s.router.absent = func(path string) error {
		return s.plugins.Absent(func(m *pluginv1.Manifest) bool {
			return serves(m, path)
		})
	}
	return nil
}

// serves reports whether a path is below a route of a manifest.
func serves(m *pluginv1.Manifest, path string) bool {
	return slices.ContainsFunc(m.Routes, func(r *pluginv1.Route) bool {
		return strings.HasPrefix(path+"/", r.GetPath()+"/")
	})
}

// streamQueue is how many events may wait for a client before it loses some.
const streamQueue = 256

// streamEvents are the event streams of RESTCONF: what the bus delivers.
func (s *Server) streamEvents(
	ctx context.Context,
	stream string,
) func(emit func(restconf.Event)) error {
	sub := s.bus.Subscribe(streamQueue, stream)
	return func(emit func(restconf.Event)) error {
		defer sub.Close()
		for {
			e, err := sub.Next(ctx)
			if err != nil {
				return nil //nolint:nilerr // the end of the stream
			}
			ev := restconf.Event{Time: e.Time}
			var members map[string]json.RawMessage
			if json.Unmarshal(e.Data, &members) != nil {
				continue
			}
			for name, data := range members {
				ev.Name, ev.Data = name, data
			}
			emit(ev)
		}
	}
}

// pluginRoutes forwards a subtree to the plugin that serves it.
func (s *Server) pluginRoutes(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun, err := s.plugins.ServeRoute(w, r, name)
		switch {
		case err == nil || errors.Is(r.Context().Err(), context.Canceled):
		case begun:
			// The status is out: ending the connection is the only way to say it.
			s.log.WarnContext(
				r.Context(),
				"an answer of a plugin broke off",
				"plugin",
				name,
				"request",
				requestID(r),
				"error",
				err,
			)
			panic(http.ErrAbortHandler)
		default:
			var odd *httproutes.BadAnswerError
			if errors.As(err, &odd) {
				s.log.WarnContext(
					r.Context(),
					"a plugin's answer was not passed on",
					"plugin",
					name,
					"request",
					requestID(r),
					"error",
					err,
				)
				err = fmt.Errorf("plugin %s: %w", name, err)
			}
			refuseRoute(w, err)
		}
	})
}

// refuseRoute answers when a plugin could not.
func refuseRoute(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	if errors.As(err, new(*httproutes.BadAnswerError)) {
		status = http.StatusBadGateway
	}
	switch fault.KindOf(err) {
	case fault.Unavailable:
		status = http.StatusServiceUnavailable
		w.Header().Set("Retry-After", "1")
	case fault.Timeout:
		status = http.StatusGatewayTimeout
	case fault.TooBig:
		status = http.StatusRequestEntityTooLarge
	case fault.NotFound: // the plugin was uninstalled a moment ago
		status = http.StatusNotFound
	}
	var later interface{ RetryAfter() time.Duration }
	if errors.As(err, &later) {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(later.RetryAfter().Seconds()))))
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"type":   "about:blank",
		"title":  http.StatusText(status),
		"status": status,
		"detail": err.Error(),
		"error":  err.Error(),
	})
}

// opens reports whether a request may use what a module denies by default. It implements restconf.Options.Opens; access
// control is opened after RESTCONF.
func (s *Server) opens(ctx context.Context, method, path, module, name string) bool {
	return s.aaa != nil && s.aaa.Opens(ctx, method, path, module, name)
}
