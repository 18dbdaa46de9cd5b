package plugin

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"ctl.internal/host/internal/grant"
	"ctl.internal/host/internal/plugin/process"
	"ctl.internal/internal/wire"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

// permanentError is a failure to start that another attempt cannot mend.
type permanentError struct{ error }

func (e permanentError) Unwrap() error { return e.error }

// errFiles says that a process was started with the files of an older manifest.
var errFiles = errors.New("the plugin needs files that its manifest has just named")

// launchProcess starts a process and makes it ready to serve. On failure nothing is left.
// beside says that another process serves meanwhile: the new one must be healthy.
func (s *supervisor) launchProcess(ctx context.Context, spec Spec, beside bool) (*instance, error) {
	s.recallManifest(ctx, spec)
	inst, err := s.startProcess(ctx, spec, beside)
	if errors.Is(err, errFiles) { // the manifest is another than that of the last start: now it is known
		inst, err = s.startProcess(ctx, spec, beside)
	}
	return inst, err
}

func (s *supervisor) startProcess(
	ctx context.Context,
	spec Spec,
	beside bool,
) (_ *instance, err error) {
	ps := process.Spec{
		Name:         s.name,
		Path:         spec.Path,
		Args:         spec.Args,
		SHA256:       spec.SHA256,
		Sums:         &s.m.sums,
		Env:          spec.Env,
		Dir:          s.dir,
		DataDir:      s.dataDir(),
		HostSocket:   s.services.Socket(),
		StartTimeout: s.m.limits.StartTimeout,
		Logger:       s.log,
		LogRate:      s.m.limits.LogRate,
		LogLost:      &s.logDropped,
		Keeper:       s.m.keeper,
	}
	if ps.Isolate, err = s.newIsolate(s.services.Held()); err != nil {
		return nil, permanentError{err}
	}
	var files []os.FileInfo
	if ps.Isolate != nil {
		files = statFiles(ps.Isolate.Files)
	}
	if node := s.m.options.Node; node != "" {
		ps.Env = append(slices.Clip(ps.Env), host.EnvNode+"="+node)
	}
	if s.m.options.Spans != nil {
		ps.Env = append(slices.Clip(ps.Env), wire.EnvTraces+"=1")
	}
	if ps.Attach, err = findAttachment(s.name); err != nil {
		return nil, permanentError{err}
	}
	var proc *process.Process
	if err = checkFiles(spec); err == nil {
		proc, err = process.Start(ctx, ps)
	}
	if err != nil {
		return nil, s.markPermanent(spec, err)
	}
	token := rand.Text()
	s.services.AddToken(token, proc.PID)
	inst := newInstance(proc, spec, token)
	inst.isolate, inst.files = ps.Isolate, files
	if err = s.prepareInstance(ctx, inst, beside); err != nil {
		exit := inst.proc.Kill("did not become ready: " + oneLine(err))
		inst.end()
		s.services.RemoveToken(token)
		if fault.KindOf(err) == fault.Unavailable && exit.Reason == "" {
			err = fmt.Errorf("plugin %s ended while it was configured: %s", s.name, exit)
		}
		return nil, err
	}
	return inst, nil
}

// markPermanent marks the failure of a start whose files are not those of the catalogue: another try finds the same ones.
func (s *supervisor) markPermanent(spec Spec, err error) error {
	sum, e := process.Hash(spec.Path, "", &s.m.sums)
	if e == nil &&
		(spec.SHA256 != "" && !strings.EqualFold(sum, spec.SHA256) || checkFiles(spec) != nil) {
		return permanentError{err}
	}
	return err
}

func (s *supervisor) prepareInstance(ctx context.Context, inst *instance, beside bool) error {
	stop := context.AfterFunc(ctx, inst.cancel)
	defer stop()
	base := pluginv1.NewBaseClient(inst.conn)
	dctx, cancel := context.WithTimeout(inst.ctx, s.m.limits.StartTimeout)
	defer cancel()
	d, err := base.Describe(dctx, &pluginv1.DescribeRequest{})
	if err != nil {
		return fmt.Errorf("plugin %s does not describe itself: %w", s.name, fault.FromStatus(err))
	}
	inst.manifest = d.GetManifest()
	api, err := s.acceptManifest(inst.manifest)
	if err != nil {
		return permanentError{err}
	}
	requests, err := grant.Requests(inst.manifest)
	if err != nil {
		return permanentError{err}
	}
	s.requests.Store(&requests)
	if err := s.services.Held().Check(inst.manifest, requests); err != nil {
		return permanentError{err}
	}
	known := s.described.Swap(inst.manifest)
	if inst.isolate != nil &&
		!sameRequests(known, inst.manifest) &&
		!slices.Equal(s.grantedFiles(s.services.Held(), inst.manifest), inst.isolate.Files) {
		return errFiles
	}
	if inst.isolate != nil && !proto.Equal(known, inst.manifest) {
		s.rememberManifest(inst.manifest)
	}
	inst.proc.Annotate(slog.String("version", inst.manifest.Version))
	if inst.manifest.SingleNode && s.m.options.Roles != nil && !s.awaitRole(ctx) {
		return standbyError{inst.manifest}
	}
	config, err := s.m.options.Settings(s.name, inst.manifest.ConfigSchema)
	if err != nil {
		return permanentError{err}
	}
	old := s.services.Manifest()
	s.services.SetManifest(inst.manifest)
	cctx, cancel := context.WithTimeout(inst.ctx, s.m.limits.ConfigureTimeout)
	defer cancel()
	res, err := base.Configure(cctx, &pluginv1.ConfigureRequest{
		ApiVersion: api,
		Config:     config,
		DataDir:    s.dataDir(),
		Facets:     inst.spec.Facets,
		HostSocket: s.services.Socket(),
		HostToken:  inst.token,
	})
	if err == nil {
		inst.warnings = res.Warnings
		err = s.firstHealth(inst, base, beside)
	}
	if err != nil {
		if old != nil {
			s.services.SetManifest(old)
		}
		return configureError(s.name, fault.FromStatus(err))
	}
	lctx, cancel := context.WithTimeout(inst.ctx, s.m.limits.PingTimeout)
	defer cancel()
	if err := inst.openLink(lctx); err != nil {
		s.log.Warn(
			"the plugin's link cannot be opened: its calls are made one by one, which is slower",
			"error",
			err,
		)
	}
	return nil
}

// sameRequests reports whether two manifests ask for the same files.
func sameRequests(a, b *pluginv1.Manifest) bool {
	return bytes.Equal(a.GetConfigSchema(), b.GetConfigSchema()) &&
		slices.EqualFunc(a.GetRequests(), b.GetRequests(), func(x, y *pluginv1.Request) bool {
			return proto.Equal(x, y)
		})
}

// configureError marks the errors of Configure that only a person can mend.
func configureError(name string, err error) error {
	e := fmt.Errorf("plugin %s cannot be configured: %w", name, err)
	switch fault.KindOf(err) {
	case fault.Invalid, fault.Missing, fault.Unknown, fault.Malformed, fault.Unsupported:
		return permanentError{e}
	}
	return e
}

// firstHealth reads the state that a plugin has after its configuration.
func (s *supervisor) firstHealth(inst *instance, base pluginv1.BaseClient, beside bool) error {
	ctx, cancel := context.WithTimeout(inst.ctx, s.m.limits.PingTimeout)
	defer cancel()
	stream, err := base.Health(ctx, &pluginv1.HealthRequest{})
	if err != nil {
		return err
	}
	h, err := stream.Recv()
	if fault.KindOf(fault.FromStatus(err)) == fault.Unsupported {
		return inst.proc.Ping(ctx) // no health of its own: it answers, that will do
	}
	if err != nil {
		return err
	}
	inst.health.Store(h)
	if beside && h.State == pluginv1.HealthResponse_STATE_FAILED {
		return fault.New(fault.Unavailable, "it reported a failure: %s", h.Reason)
	}
	return nil
}

// acceptManifest checks what a plugin says of itself and chooses the contract's version.
func (s *supervisor) acceptManifest(m *pluginv1.Manifest) (api string, err error) {
	if m.GetName() != s.name {
		return "", fmt.Errorf(
			"the file of plugin %s contains the plugin %q: correct the path or the name in features.yaml",
			s.name,
			m.GetName(),
		)
	}
	translated, err := translateRouteLabels(m)
	if err == nil {
		err = wire.CheckRoutes(m.Routes)
	}
	if err != nil {
		return "", fmt.Errorf("the manifest of plugin %s is refused: %w", s.name, err)
	}
	for _, label := range translated {
		s.log.Warn(
			"the manifest has a label of an older contract, which was translated: its author should write aliases and parameters at the route",
			"label",
			label,
		)
	}
	for _, field := range oldOperations(m) {
		s.log.Warn("the manifest has a field of an older contract, which was translated: its author should write ctl:read-only, ctl:repeatable and ctl:timeout "+
			"in the RPCs of its YANG modules", "field", field)
	}
	for _, r := range m.Routes {
		for _, own := range s.m.options.Reserved {
			if strings.HasPrefix(strings.TrimSuffix(r.GetPath(), "/")+"/", own+"/") ||
				strings.HasPrefix(own+"/", strings.TrimSuffix(r.GetPath(), "/")+"/") {
				return "", fmt.Errorf(
					"plugin %s claims the path %q, but %s belongs to the controller: the author of the plugin must choose another path",
					s.name,
					r.GetPath(),
					own,
				)
			}
		}
	}
	if err := checkDeclared(s.name, m, s.m.options.OwnsCommand); err != nil {
		return "", fmt.Errorf("the manifest of plugin %s is refused: %w", s.name, err)
	}
	if v := wire.Negotiate(m.ApiVersions); v != "" {
		return v, s.m.checkConflicts(s.name, m)
	}
	return "", fmt.Errorf("plugin %s %s supports %s of the plugin contract, this controller %s: install a version of the plugin for this controller, or a newer controller",
		s.name, m.Version, formatVersions(m.ApiVersions), formatVersions(wire.APIVersions))
}

func formatVersions(v []string) string {
	switch len(v) {
	case 0:
		return "no version"
	case 1:
		return "version " + v[0]
	}
	return "versions " + strings.Join(v, ", ")
}

func (s *supervisor) dataDir() string {
	return filepath.Join(s.m.options.DataDir, s.name)
}

// findAttachment returns where a plugin under a debugger listens, nil when the
// environment names none.
func findAttachment(name string) (*wire.Reattach, error) {
	if text := os.Getenv(wire.ReattachVariable(name)); text != "" {
		return process.ParseAttach(name, text)
	}
	return nil, nil
}

func oneLine(err error) string {
	return strings.Join(strings.Fields(err.Error()), " ")
}
