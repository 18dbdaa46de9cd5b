package ctlclient

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"ctl.internal/internal/console"
)

// runOffline has ctld carry out a command on the files of the home: only ctld links the datastore's engines.
func (o *options) runOffline(cmd *cobra.Command, in console.Offline) error {
	if err := checkFormat(in.Format); err != nil {
		return err
	}
	dir, err := o.homeDir()
	if err != nil {
		return err
	}
	daemon, err := findDaemon()
	if err != nil {
		return coded{console.Failed, err}
	}
	text, err := json.Marshal(in)
	if err != nil {
		return err
	}
	run := exec.Command(daemon, "--home", dir, "--"+console.OfflineFlag, string(text))
	run.Stdout, run.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
	started := make(chan struct{})
	defer onSignals(func(s os.Signal) {
		<-started
		_ = run.Process.Signal(s) // it has ended when this fails
	}, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)()
	if err := run.Start(); err != nil {
		return coded{console.Failed, fmt.Errorf(
			"%s, which is needed for this, does not start: %w",
			daemon,
			err,
		)}
	}
	close(started)
	err = run.Wait()
	var e *exec.ExitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e) && e.Exited():
		return exitError(console.Code(e.ExitCode()))
	}
	return coded{console.Failed, fmt.Errorf(
		"%s, which is needed for this, was killed: %w",
		daemon,
		err,
	)}
}

// findDaemon finds ctld: beside ctl, where the installation puts it, else in PATH.
func findDaemon() (string, error) {
	if dir, err := console.ProgramDir(); err == nil {
		if beside, err := exec.LookPath(filepath.Join(dir, "ctld")); err == nil {
			return beside, nil
		}
	}
	path, err := exec.LookPath("ctld")
	if err != nil {
		return "", errors.New("the program ctld is needed for this, but it is neither in the directory of ctl nor in PATH: install both in one directory")
	}
	return path, nil
}
