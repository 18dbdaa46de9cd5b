// Package labctl is the command line of ctl-lab: it runs a package network as
// a process of its own and changes it through a control socket while it runs.
// Tests in Go use package network directly.
package labctl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"ctl.internal/internal/lab/network"
)

// ready is the line that reports that the switches listen.
type ready struct {
	Switches int    `json:"switches"`
	Links    int    `json:"links"`
	CSV      string `json:"csv,omitempty"`
	Control  string `json:"control,omitempty"`
}

// runNetwork starts the network and waits for the end of the context or of the input.
func runNetwork(cmd *cobra.Command, f flags) error {
	opts, err := f.networkOptions()
	if err != nil {
		return err
	}
	n, err := network.Start(opts)
	if err != nil {
		return err
	}
	defer n.Close()
	endCLI, err := serveCLI(n, f.cliPort, opts.Listen)
	if err != nil {
		return err
	}
	defer endCLI()
	if f.csv != "" {
		if err := n.WriteCSV(f.csv); err != nil {
			return err
		}
	}
	return serveUntilEnd(cmd, f.control, newControlHandler(n), f.untilEOF, func() error {
		r := ready{len(n.Nodes()), len(n.Links()), f.csv, f.control}
		if f.asJSON {
			return json.NewEncoder(cmd.OutOrStdout()).Encode(r)
		}
		_, err := fmt.Fprintf(
			cmd.OutOrStdout(),
			"ready %d switches, %d links\n",
			r.Switches,
			r.Links,
		)
		return err
	})
}

// serveUntilEnd opens the control socket, if one is wanted, says that the lab is ready, and
// waits for the end of the context or of the input.
func serveUntilEnd(
	cmd *cobra.Command,
	control string,
	h http.Handler,
	untilEOF bool,
	ready func() error,
) error {
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	if control != "" {
		end, err := serveControl(control, h)
		if err != nil {
			return err
		}
		defer end()
	}
	if untilEOF {
		// Ends with the input; at a signal the process ends without it.
		go func() { _, _ = io.Copy(io.Discard, cmd.InOrStdin()); cancel() }()
	}
	if err := ready(); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// serveControl answers on a unix socket that only its owner may open.
func serveControl(path string, h http.Handler) (func(), error) {
	if c, err := net.DialTimeout("unix", path, time.Second); err == nil {
		c.Close()
		return nil, fmt.Errorf("--control %s: another ctl-lab answers there", path)
	}
	if info, err := os.Stat(path); err == nil && info.Mode()&os.ModeSocket != 0 {
		os.Remove(path) // from a process that was killed
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("--control: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, fmt.Errorf("--control: %w", err)
	}
	srv := &http.Server{
		Handler:        h,
		ReadTimeout:    10 * time.Second,
		WriteTimeout:   30 * time.Second,
		MaxHeaderBytes: 1 << 14,
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			fmt.Fprintln(os.Stderr, "ctl-lab: control socket:", err)
		}
	}()
	return func() { srv.Close(); <-done }, nil
}
