// Command realm compares logins at the controller whose realm asks an LDAP server
// with the bare client library doing bind and search at the same server. README.md
// says what goes which way.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"ctl.internal/bench/rig"
)

// options are the flags.
type options struct {
	bin, profiles           string
	users, parallel, rounds int
	duration                time.Duration
}

func main() {
	var o options
	flag.StringVar(
		&o.bin,
		"bin",
		"bin",
		"directory of ctld, ctl and plugins/, as `make build` fills it",
	)
	flag.StringVar(&o.profiles, "profile", "", "directory for CPU profiles of the host")
	flag.IntVar(&o.users, "users", 10_000, "users of the LDAP server")
	flag.IntVar(&o.parallel, "parallel", 32, "logins at a time")
	flag.IntVar(&o.rounds, "rounds", 3, "measurements of each side, in turn; the median counts")
	flag.DurationVar(&o.duration, "d", 4*time.Second, "length of one measurement")
	flag.Parse()
	rig.Main(o.runMeasurements)
}

func (o options) runMeasurements(ctx context.Context) error {
	if _, err := exec.LookPath(slapdProgram); err != nil {
		fmt.Println("LEFT OUT, NOT MEASURED: slapd is not installed")
		return nil
	}
	dir, err := os.MkdirTemp("", "rb") // short, for the unix sockets in it
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Printf("%d users, %d logins at a time, %d CPUs, median of %d rounds of %s, the sides in turn.\n"+
		"Each login is verified at the server: every request is of another user, and aaa.loginCache is 0s.\n",
		o.users, o.parallel, runtime.NumCPU(), o.rounds, o.duration)
	for i, k := range []setting{
		{"LDAP, passwords stored as {SSHA}", "ldap", hashSalted, false},
		{"LDAPS, the same", "ldaps", hashSalted, false},
		{"LDAP, passwords stored as {CRYPT}, SHA-512 of 5000 rounds", "ldap", hashCrypt, true},
	} {
		if err := o.measureSetting(ctx, filepath.Join(dir, strconv.Itoa(i)), k); err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
	}
	return nil
}
