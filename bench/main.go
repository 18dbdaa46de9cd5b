// Command bench compares the controller with peers side by side, in one run on one
// machine, and writes the table bench/RESULTS.md. Absolute figures do not travel
// between machines; the ratios do. `go run ./bench -h` lists the parts.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"ctl.internal/bench/rig"
	"ctl.internal/test/harness"
)

// row is one line of the table.
type row struct {
	what, ours, peer, ratio, target string
}

// part is one measurement.
type part struct {
	name, about string
	run         func(b *bench, ctx context.Context) error
}

// bench is a run of the parts.
type bench struct {
	dir      string // with bin/
	duration time.Duration
	rounds   int
	profiles string // directory for CPU profiles of the controller; empty = none
	rows     []row
	notes    []string
}

var parts = []part{
	{"rpc", "an RPC through the whole controller, and through bare gorilla/mux and go-plugin", (*bench).rpcPart},
	{"noop", "an authenticated request that stays in the host, and through bare gorilla/mux", (*bench).noopPart},
	{"auth", "Basic (cached), Bearer and no credentials on the same path", (*bench).authPart},
	{"aaa", "rules, policies, tokens, logins, 100,000 users (Go benchmarks)", (*bench).aaaPart},
	{"start", "from exec to ready with all installed features; memory at rest", (*bench).startPart},
	{"isolation", "a plugin's start, and calls to it, with isolation and without", (*bench).isolationPart},
	{"realm", "logins through the LDAP realm, against bare go-ldap at the same slapd (bench/realm)", newProgramPart(
		"Logins through the LDAP realm (`make build && go run ./bench/realm`)",
		"realm",
		timedArgs("-bin", "bin"),
	)},
	{"switch", "discovery and tables, against gosnmp and snmpbulkwalk (bench/switch)", newProgramPart(
		"Switch plugin (`go run ./bench/switch`)",
		"switch",
		fixedArgs(),
	)},
	{"scale", "discovery of 5,000 switches of 48 ports, some of them dead, lossy or looping, against gosnmp at the others (bench/switch)", (*bench).scalePart},
	{"store", "datastore engines against bare Badger and etcd, and a store after 100,000 writes of the same keys (host/internal/datastore/storebench)",
		newProgramPart(
			"Datastore (`go run ./host/internal/datastore/storebench`)\n\nWrites are on the disk when they are acknowledged. Asked for after earlier writes: ratios of 0.95 at least, disk bounded.",
			"storebench",
			timedArgs("-dir", "."),
		)},
	{"restconf", "a list of 10,000 entries read and written, against encoding/json; 1,000 readers of a stream (bench/restconf)", (*bench).restconfPart},
	{"bier", "channels deployed to 1000 routers, against bare edit-config and commit (bench/bier)", newProgramPart(
		"BIER (`go run ./bench/bier`)",
		"bier",
		fixedArgs(),
	)},
}

func main() {
	duration := flag.Duration("d", 4*time.Second, "length of one measurement")
	rounds := flag.Int("rounds", 5, "measurements of each side, in turn; the median counts")
	out := flag.String(
		"o",
		"bench/RESULTS.md",
		"where the table is written; - for standard output only",
	)
	only := flag.String("only", "", "parts to run, separated by commas; empty = all")
	without := flag.String("without", "", "parts to leave out, separated by commas, such as scale")
	profiles := flag.String(
		"profile",
		"",
		"directory for a CPU profile of the controller in each comparison's last round",
	)
	flag.Usage = printUsage
	flag.Parse()
	rig.Main(func(ctx context.Context) error {
		return runBench(
			ctx,
			&bench{
				duration: *duration,
				rounds:   *rounds,
				profiles: *profiles,
			},
			*only,
			*without,
			*out,
		)
	})
}

func printUsage() {
	fmt.Fprintln(
		flag.CommandLine.Output(),
		"usage: go run ./bench [flags], from the top of the tree\n\nParts:",
	)
	for _, p := range parts {
		fmt.Fprintf(flag.CommandLine.Output(), "  %-9s %s\n", p.name, p.about)
	}
	fmt.Fprintln(flag.CommandLine.Output(), "\nFlags:")
	flag.PrintDefaults()
}

// chooseParts are the parts that are run; any other name is refused.
func chooseParts(only, without string) ([]part, error) {
	names := func(list string) []string {
		return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
	}
	for _, n := range append(names(only), names(without)...) {
		if !slices.ContainsFunc(parts, func(p part) bool { return p.name == n }) {
			return nil, fmt.Errorf("there is no part %q; -h lists them", n)
		}
	}
	var out []part
	for _, p := range parts {
		if (only == "" || slices.Contains(names(only), p.name)) &&
			!slices.Contains(names(without), p.name) {
			out = append(out, p)
		}
	}
	return out, nil
}

func runBench(ctx context.Context, b *bench, only, without, out string) error {
	todo, err := chooseParts(only, without)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "ctlbench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b.dir = dir
	if err := b.buildPrograms(ctx); err != nil {
		return err
	}
	for _, p := range todo {
		fmt.Printf("== %s: %s\n", p.name, p.about)
		before := len(b.rows)
		if err := p.run(b, ctx); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		for _, r := range b.rows[before:] {
			fmt.Printf(
				"   %s: %s, peer %s, ratio %s (target %s)\n",
				r.what,
				r.ours,
				r.peer,
				r.ratio,
				r.target,
			)
		}
	}
	text := b.formatResults(only, without)
	if out == "-" {
		fmt.Print(text)
		return nil
	}
	return os.WriteFile(out, []byte(text), 0o644)
}

// buildPrograms makes the programs: the tree's own, and the peers.
func (b *bench) buildPrograms(ctx context.Context) error {
	if out, err := harness.Build(".", filepath.Join(b.dir, "bin")); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	for target, packages := range map[string][]string{
		"bin/":  {"./bench/baseline", "./bench/realm", "./bench/switch", "./bench/bier", "./bench/restconf", "./host/internal/datastore/storebench"},
		"echo/": {"./bench/echo"},
	} {
		at := filepath.Join(b.dir, target)
		if err := os.MkdirAll(at, 0o755); err != nil {
			return err
		}
		cmd := exec.CommandContext(ctx, "go", append([]string{"build", "-o", at + "/"}, packages...)...)
		if text, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build: %w\n%s", err, text)
		}
	}
	return nil
}

func (b *bench) binPath(name string) string {
	return filepath.Join(b.dir, "bin", name)
}

func (b *bench) formatResults(only, without string) string {
	var s strings.Builder
	command := "make bench"
	if only != "" {
		command = "go run ./bench -only " + only
	}
	if without != "" {
		command = strings.Replace(command, "make bench", "go run ./bench", 1) + " -without " + without
	}
	fmt.Fprintf(&s, "# Results\n\nMade by `%s` on %s, %d processors, %s/%s, %s. Median of %d rounds of %s, the two sides in turn.\n",
		command, time.Now().UTC().Format("2006-01-02"), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), b.rounds, b.duration)
	s.WriteString("Load generator, controller and peer share the processors. Ratios are ours ÷ the peer's rate: higher is better, unless said.\nCPU is what the server and its children used of the processors for one request.\n\n")
	s.WriteString("| What | Ours | Peer | Ratio | Target |\n|---|---|---|---|---|\n")
	for _, r := range b.rows {
		fmt.Fprintf(&s, "| %s | %s | %s | %s | %s |\n", r.what, r.ours, r.peer, r.ratio, r.target)
	}
	for _, n := range b.notes {
		fmt.Fprintf(&s, "\n%s\n", n)
	}
	return s.String()
}
