package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ctl.internal/host/internal/console/offline"
	"ctl.internal/host/internal/home"
	"ctl.internal/internal/console"
	"ctl.internal/internal/nearest"
	"ctl.internal/internal/wire"
)

// Exit codes of ctld.
const (
	exitOK     = 0
	exitFailed = 1 // it could not start, or ended by a fault
	exitUsage  = 2
	exitConfig = 3 // a file in etc/ is wrong; every fault was printed
)

// listenerFlags are the flags for listeners, each with its setting.
var listenerFlags = [...]struct{ name, key, help string }{
	{"http", "listeners.http", "address of the HTTP listener, `host:port`; port 0 takes any, off closes it"},
	{"https", "listeners.https", "address of the HTTPS listener"},
	{"ssh", "listeners.ssh", "address of the console over SSH"},
	{"restconf", "listeners.restconf", "address for clients of RESTCONF alone, which use /restconf as the root of RFC 8040"},
	{"admin", "listeners.admin", "address of /livez, /readyz and /metrics"},
	{"cluster", "cluster.listen", "address for the other nodes of a cluster"},
}

// Main runs ctld and returns its exit code.
func Main(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// What reads our output may end before us: a write then fails instead of ending the
	// controller. Not ignored, because children would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	code := exitOK
	cmd := &cobra.Command{
		Use:   "ctld --home DIR",
		Short: "The daemon of the ctl network-lab controller",
		Long: "ctld runs the controller: access control, RESTCONF, the console and the plugins of the installed features.\n" +
			"A missing home is made from the built-in files. Settings come from flags, then CTL_* in the environment,\n" +
			"then etc/ctl.yaml in the home, then the defaults.\n\n" +
			"Exit codes: 0 stopped in order, 1 could not start or failed, 2 wrong usage, 3 a file in etc/ is wrong.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf(
					"unexpected argument %q: ctld takes only flags; commands are run with ctl",
					args[0],
				)
			}
			return nil
		},
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       Version(),
	}
	dir := cmd.Flags().String(
		"home",
		console.DefaultHome(),
		"the home directory (CTL_HOME)",
	)
	given := map[string]*string{}
	for _, f := range listenerFlags {
		given[f.key] = cmd.Flags().String(f.name, "", f.help)
	}
	join := cmd.Flags().String(
		"join",
		"",
		"`FILE` made by cluster:token: a new home becomes that of a node of the cluster",
	)
	command := cmd.Flags().String(
		console.OfflineFlag,
		"",
		"a command of ctl on the files of the home",
	)
	_ = cmd.Flags().MarkHidden(console.OfflineFlag) // it is there
	cmd.RunE = func(*cobra.Command, []string) error {
		if *command != "" {
			code = offline.Main(ctx, home.Dir(*dir), *command, stdout, stderr)
			return nil
		}
		flags := map[string]string{}
		for _, f := range listenerFlags {
			if cmd.Flags().Changed(f.name) {
				flags[f.key] = *given[f.key]
			}
		}
		if err := hideSecrets(); err != nil {
			fmt.Fprintln(stderr, "ctld: the passwords in the environment cannot be hidden:", err)
			code = exitFailed
			return nil
		}
		code = Run(
			ctx,
			Options{
				Home:   *dir,
				Join:   *join,
				Flags:  flags,
				Stdout: stdout,
				Stderr: stderr,
			},
		)
		return nil
	}
	cmd.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		var unknown *pflag.NotExistError
		if !errors.As(err, &unknown) {
			return err
		}
		var known []string
		c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
		return fmt.Errorf("%w%s", err, nearest.Hint(unknown.GetSpecifiedName(), known))
	})
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	if err := cmd.Execute(); err != nil {
		fmt.Fprintf(stderr, "ctld: %v (see ctld --help)\n", err)
		return exitUsage
	}
	return code
}

// Version is the version of this build with its commit, when that is known, and
// the newest version of the plugin contract.
func Version() string {
	version, commit := console.Build()
	if len(commit) >= 12 {
		version += " commit " + commit[:12]
	}
	return version + " contract " + wire.APIVersions[0]
}

// secretVariables are those of the environment that may hold secrets.
var secretVariables = []string{"CTL_ADMIN_PASSWORD", "CTL_USER_PASSWORD", "CTL_DATASTORE_ETCD_PASSWORD"}

// secretsFile is the variable that names the file descriptor with the secrets.
const secretsFile = "CTL_SECRETS_FD"

// hideSecrets takes the secrets out of the environment. /proc/PID/environ shows it as it was at the
// start, whatever os.Unsetenv does; so this program is executed again, in the same process, without
// them, and gets them by a pipe. It returns when there are none, or in the second execution.
func hideSecrets() error {
	if fd := os.Getenv(secretsFile); fd != "" {
		os.Unsetenv(secretsFile)
		n, err := strconv.Atoi(fd)
		if err != nil {
			return fmt.Errorf("%s is %q; ctld sets it by itself, remove it", secretsFile, fd)
		}
		f := os.NewFile(uintptr(n), "secrets")
		defer f.Close()
		var secrets []string
		if err := json.NewDecoder(f).Decode(&secrets); err != nil {
			return fmt.Errorf("%s: %w", secretsFile, err)
		}
		for _, v := range secrets {
			name, value, _ := strings.Cut(v, "=")
			os.Setenv(name, value) // as Go knows it; the kernel shows that of the start
		}
		return nil
	}
	rest := os.Environ()
	var secrets []string
	rest = slices.DeleteFunc(rest, func(v string) bool {
		name, value, _ := strings.Cut(v, "=")
		secret := value != "" && slices.Contains(secretVariables, name)
		if secret {
			secrets = append(secrets, v)
		}
		return secret
	})
	if secrets == nil {
		return nil
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	var pipe [2]int
	if err := syscall.Pipe(pipe[:]); err != nil { // without O_CLOEXEC: it stays open
		return err
	}
	text, err := json.Marshal(secrets)
	if err == nil && len(text) > 4096 { // a pipe takes that much without a reader
		err = fmt.Errorf("%s: at most 4096 bytes together", strings.Join(secretVariables, ", "))
	}
	if err == nil {
		_, err = syscall.Write(pipe[1], text)
	}
	syscall.Close(pipe[1])
	if err != nil {
		return err
	}
	return syscall.Exec(program, os.Args, append(rest, secretsFile+"="+strconv.Itoa(pipe[0])))
}
