package plugintest

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"ctl.internal/internal/wire"
	"ctl.internal/internal/yang"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// byHand: somebody who starts a plugin from the shell learns what it is.
func byHand(k *checker) {
	cmd := exec.CommandContext(k.ctx, k.bin)
	cmd.Env = []string{}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err == nil {
		k.addWarning(
			"started by hand (without %s in the environment) it ends without an error",
			wire.Handshake.MagicCookieKey,
		)
	}
	if k.ctx.Err() != nil {
		k.addFault(
			"started by hand (without %s in the environment) it does not end",
			wire.Handshake.MagicCookieKey,
		)
	}
	if out.Len() > 0 {
		k.addFault(
			"started by hand it writes a handshake although no host asks for one: %.80q",
			out.String(),
		)
	}
	if errs.Len() == 0 {
		k.addWarning("started by hand it does not say that it is a plugin")
	}
}

// describeAgrees: the subcommand reports what the RPC answers.
func describeAgrees(k *checker) {
	cmd := exec.CommandContext(k.ctx, k.bin, "describe")
	cmd.Env = []string{}
	out, err := cmd.Output()
	if err != nil {
		k.addWarning(
			"the subcommand `describe` fails: %v; operators use it to look at a plugin without a controller",
			err,
		)
		return
	}
	var printed pluginv1.Manifest
	if err := protojson.Unmarshal(out, &printed); err != nil {
		k.addFault("`describe` does not print the manifest as JSON: %v", err)
		return
	}
	if !proto.Equal(&printed, k.describePlugin(k.startPlugin())) {
		k.addFault("`describe` prints another manifest than the RPC Describe answers")
	}
}

// startPlugin launches the plugin or ends the check.
func (k *checker) startPlugin(env ...string) *subject {
	s, err := k.launchPlugin(env...)
	k.mustSucceed(err, "start")
	return s
}

func (k *checker) describePlugin(s *subject) *pluginv1.Manifest {
	r, err := s.base.Describe(k.ctx, &pluginv1.DescribeRequest{})
	k.mustSucceed(err, "Describe")
	if r.Manifest == nil {
		k.addFault("Describe answers no manifest")
		panic(giveUp{})
	}
	return r.Manifest
}

// checkHandshake: the plugin starts, and again beside itself.
func checkHandshake(k *checker) {
	k.describePlugin(k.startPlugin())
	k.describePlugin(k.startPlugin()) // a reload starts the second one before the first has ended
}

// checkEncryption: only a client with the host's certificate is accepted.
func checkEncryption(k *checker) {
	s := k.startPlugin()
	k.describePlugin(s)
	conn, err := grpc.NewClient(
		"unix://"+s.socket,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
	)
	k.mustSucceed(err, "dial")
	defer conn.Close()
	if _, err := pluginv1.NewBaseClient(conn).Describe(k.ctx, &pluginv1.DescribeRequest{}); status.Code(err) != codes.Unavailable {
		k.addFault(
			"it answers without TLS although PLUGIN_CLIENT_CERT is set (%v)",
			status.Code(err),
		)
	}
}

var (
	nameForm    = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,31}$`)
	versionForm = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+([-+].*)?$`)
	commandForm = regexp.MustCompile(`^[A-Za-z0-9_-]+:[A-Za-z0-9_-]+$`)
)

// checkManifest: what the plugin says of itself can be used.
func checkManifest(k *checker) {
	m := k.describePlugin(k.startPlugin())
	if !nameForm.MatchString(m.Name) {
		k.addFault(
			"name %q: up to 32 lower-case letters, digits, dots, hyphens and underscores",
			m.Name,
		)
	}
	if !versionForm.MatchString(m.Version) {
		k.addFault("version %q: a semantic version, 1.2.3", m.Version)
	}
	if m.Summary == "" {
		k.addFault("summary: missing; plugin:list shows it")
	}
	if wire.Negotiate(m.ApiVersions) == "" {
		k.addFault("api_versions %v: none of %v", m.ApiVersions, wire.APIVersions)
	}
	if len(m.Capabilities) == 0 {
		k.addWarning("capabilities: none, so nothing can be asked of it")
	}
	has := func(c string) bool { return slices.Contains(m.Capabilities, c) }
	for _, c := range []struct {
		capability string
		things     int
		what       string
	}{{"operations", len(m.Rpcs), "rpcs"}, {"routes", len(m.Routes), "routes"}, {"commands", len(m.Commands), "commands"}} {
		switch {
		case has(c.capability) && c.things == 0:
			k.addWarning("the capability %q without %s", c.capability, c.what)
		case !has(c.capability) && c.things > 0:
			k.addFault("%s without the capability %q", c.what, c.capability)
		}
	}
	if has("realm") && m.Labels["realm-kinds"] == "" {
		k.addFault("labels.realm-kinds: missing; it names the classes of sec.ini that are yours, and without it no realm is asked of the plugin")
	}
	k.checkManifestParts(m)
	if len(m.ConfigSchema) > 0 && !json.Valid(m.ConfigSchema) {
		k.addFault("config_schema: no JSON")
	}
}

func (k *checker) checkManifestParts(m *pluginv1.Manifest) {
	modules := map[string]bool{}
	for _, y := range m.YangModules {
		name, _, _ := strings.Cut(y.Name, "@")
		modules[name] = y.Implemented
		if !strings.Contains(y.Text, "module") {
			k.addFault("YANG module %s: its text is missing", y.Name)
		}
	}
	for _, r := range m.Rpcs {
		if !modules[r.Module] {
			k.addFault(
				"RPC %s:%s: the plugin does not ship the module as implemented",
				r.Module,
				r.Name,
			)
		}
	}
	if err := wire.CheckRoutes(m.Routes); err != nil {
		k.addFault("%v", err)
	}
	for _, label := range []string{wire.LabelRouteAliases, wire.LabelRouteQuery} {
		if m.Labels[label] != "" {
			k.addWarning(
				"labels.%s: an older form; write aliases and parameters at the route",
				label,
			)
		}
	}
	for _, r := range m.Rpcs {
		if r.Safe || r.Timeout != nil {
			k.addWarning(
				"the RPC %s:%s: operations.safe and operations.timeouts are an older form; write ctl:read-only, ctl:repeatable and ctl:timeout in its YANG module",
				r.Module,
				r.Name,
			)
		}
	}
	k.modules(m)
	for _, c := range m.Commands {
		if !commandForm.MatchString(c.Name) {
			k.addFault("command %q: a name is scope:name", c.Name)
		}
		if c.Summary == "" || c.Help == "" {
			k.addFault("command %s: summary and help are required", c.Name)
		}
	}
}

// modules: they compile, and say of each leaf with the name of a secret whether it is one.
func (k *checker) modules(m *pluginv1.Manifest) {
	source := yang.Source{
		Name:  m.Name,
		Files: map[string][]byte{},
	}
	for _, y := range m.YangModules {
		source.Files[y.Name+".yang"] = []byte(y.Text)
	}
	set, err := yang.Load(source)
	if err != nil {
		k.addFault("the YANG modules: %v", err)
		return
	}
	for _, y := range m.YangModules {
		name, _, _ := strings.Cut(y.Name, "@")
		if !y.Implemented {
			continue
		}
		for _, path := range set.UnmarkedSecrets(name) {
			k.addFault("YANG module %s: %s has the name of a secret: write ctl:secret in it, so that it is kept sealed and never shown, or ctl:not-secret "+
				"(of a module that is not yours, in ctl:annotate of one that is)", name, path)
		}
	}
}

// beforeConfigure: a call that comes too early is refused, not answered nor fatal.
func beforeConfigure(k *checker) {
	s := k.startPlugin()
	m := k.describePlugin(s)
	if slices.Contains(m.Capabilities, "operations") && len(m.Rpcs) > 0 {
		_, err := pluginv1.NewOperationsClient(s.conn).Invoke(
			k.ctx,
			&pluginv1.InvokeRequest{
				Module: m.Rpcs[0].Module,
				Rpc:    m.Rpcs[0].Name,
			},
		)
		if err == nil {
			k.addFault(
				"the RPC %s:%s is answered before Configure",
				m.Rpcs[0].Module,
				m.Rpcs[0].Name,
			)
		}
	}
	k.describePlugin(s)
}

// apiVersion: a version that the plugin does not speak is refused.
func apiVersion(k *checker) {
	s := k.startPlugin()
	_, err := s.base.Configure(
		k.ctx,
		&pluginv1.ConfigureRequest{
			ApiVersion: "999.0",
			Config:     []byte("{}"),
			DataDir:    s.dir,
		},
	)
	if err == nil {
		k.addFault("it accepts the contract version 999.0")
	} else if fault.KindOf(fault.FromStatus(err)) != fault.Unsupported {
		k.addWarning(
			"a contract version that it does not speak is refused as %s, not as unsupported",
			fault.KindOf(fault.FromStatus(err)),
		)
	}
}
