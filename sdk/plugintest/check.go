package plugintest

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"
)

// Finding is something that the conformance suite has found wrong.
type Finding struct {
	Check string // name of the check
	// Warning is true for what works but will trouble somebody; the rest are faults.
	Warning bool
	Text    string // what is wrong and what to change
}

// String returns the finding in one line.
func (f Finding) String() string {
	kind := "fault"
	if f.Warning {
		kind = "warning"
	}
	return fmt.Sprintf("%s: %s: %s", f.Check, kind, f.Text)
}

// Check puts an executable through the conformance suite and returns what it has
// found, nothing for a good plugin. It takes some seconds; ctx bounds it. Of the
// options WithConfig and WithChecks count: the settings that the plugin needs to
// start, and a choice of the checks.
func Check(ctx context.Context, bin string, opts ...Option) []Finding {
	var all []Finding
	for _, c := range chooseChecks(opts) {
		all = append(all, runCheck(ctx, bin, c, opts)...)
	}
	return all
}

// Run is Check as a test: a subtest for each check, faults fail it, warnings are
// logged.
func Run(t *testing.T, bin string, opts ...Option) {
	for _, c := range chooseChecks(opts) {
		t.Run(c.name, func(t *testing.T) {
			for _, f := range runCheck(t.Context(), bin, c, opts) {
				if f.Warning {
					t.Log("warning: " + f.Text)
				} else {
					t.Error(f.Text)
				}
			}
		})
	}
}

// chooseChecks returns the checks that the options ask for.
func chooseChecks(opts []Option) []check {
	only := collectOptions(opts).only
	return slices.DeleteFunc(slices.Clone(checks), func(c check) bool {
		return only != nil && !slices.Contains(only, c.name)
	})
}

// Checks returns the names of all checks, in their order.
func Checks() []string {
	var names []string
	for _, c := range checks {
		names = append(names, c.name)
	}
	return names
}

// check is one property that the host relies on.
type check struct {
	name string
	f    func(*checker)
}

// checkTimeout bounds one check.
const checkTimeout = 2 * time.Minute

var checks = []check{
	{"by-hand", byHand},
	{"describe", describeAgrees},
	{"handshake", checkHandshake},
	{"encryption", checkEncryption},
	{"manifest", checkManifest},
	{"before-configure", beforeConfigure},
	{"api-version", apiVersion},
	{"unknown-setting", unknownSetting},
	{"bad-setting", badSetting},
	{"configure", checkConfigure},
	{"health", checkHealth},
	{"metrics", checkMetrics},
	{"unknown-call", unknownCall},
	{"large-message", largeMessage},
	{"cancel", cancelHonoured},
	{"signals", checkSignals},
	{"stop", checkOrderlyStop},
	{"stop-unconfigured", stopUnconfigured},
	{"parent-gone", parentGone},
}

// checker is one run of one check.
type checker struct {
	ctx      context.Context
	bin      string
	name     string
	config   any
	host     *Host
	findings []Finding
	subjects []*subject
}

func runCheck(ctx context.Context, bin string, c check, opts []Option) []Finding {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	k := &checker{
		ctx:    ctx,
		bin:    bin,
		name:   c.name,
		config: collectOptions(opts).config,
	}
	if st, err := os.Stat(bin); err != nil || !st.Mode().IsRegular() {
		k.addFault("%s is not an executable file", bin)
		return k.findings
	}
	h, err := startHost()
	if err != nil {
		k.addFault("the test's own host: %v", err)
		return k.findings
	}
	defer h.close()
	k.host = h
	k.tryCheck(func() { c.f(k) })
	for _, s := range k.subjects {
		s.killProcess()
		k.checkOutput(s)
	}
	return k.findings
}

func (k *checker) addFault(format string, args ...any) {
	k.findings = append(k.findings, Finding{
		Check: k.name,
		Text:  fmt.Sprintf(format, args...),
	})
}

func (k *checker) addWarning(format string, args ...any) {
	k.findings = append(
		k.findings,
		Finding{
			Check:   k.name,
			Warning: true,
			Text:    fmt.Sprintf(format, args...),
		},
	)
}

// giveUp ends a check that cannot go on.
type giveUp struct{}

// tryCheck makes a check up to its end, or until it gives up.
func (k *checker) tryCheck(check func()) {
	defer func() {
		if v := recover(); v != nil && v != (giveUp{}) {
			panic(v)
		}
	}()
	check()
}

// mustSucceed ends the check when err is not nil.
func (k *checker) mustSucceed(err error, what string) {
	if err != nil {
		k.addFault("%s: %v", what, err)
		panic(giveUp{})
	}
}
