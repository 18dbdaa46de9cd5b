package labctl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// maxAnswer bounds what a client reads from the control socket.
const maxAnswer = 64 << 20

// clientCommands change a network that runs, by its control socket.
func clientCommands(control *string) []*cobra.Command {
	sub := func(use, short string, args int, method, path string, keys ...string) *cobra.Command {
		return clientCommand(control, use, short, args, method, path, keys...)
	}
	return []*cobra.Command{
		sub(
			"link A B up|down",
			"cut or mend the links between two switches",
			3,
			"POST",
			"/link",
			"a",
			"b",
			"state",
		),
		sub(
			"fault SWITCH|all FAULTS",
			"make a switch misbehave, as loss=20,delay=100ms; none heals it",
			2,
			"POST",
			"/fault",
			"switch",
			"faults",
		),
		sub("restart SWITCH", "switch it off and on", 1, "POST", "/restart", "switch"),
		sub("trap SWITCH OID", "send a notification", 2, "POST", "/trap", "switch", "oid"),
		sub(
			"traps-to TARGET",
			"send all traps to [KIND:]IP:PORT from now on, kinds as for --trap-to",
			1,
			"POST",
			"/traps-to",
			"target",
		),
		sub(
			"traffic SWITCH PORT BITS ERRORS",
			"let so many bits a second pass a port, and so many faulty frames a second",
			4,
			"POST",
			"/traffic",
			"switch",
			"port",
			"bits",
			"errors",
		),
		sub("links", "print the links as JSON", 0, "GET", "/links"),
		sub("switches", "print the switches as JSON", 0, "GET", "/switches"),
	}
}

// clientCommand makes a request of its arguments, which are the keys of its query.
func clientCommand(
	control *string,
	use, short string,
	args int,
	method, path string,
	keys ...string,
) *cobra.Command {
	return &cobra.Command{
		Use:          use,
		Short:        short,
		Args:         cobra.ExactArgs(args),
		SilenceUsage: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			q := url.Values{}
			for i, k := range keys {
				q.Set(k, args[i])
			}
			return callControl(
				cmd.Context(),
				cmd.OutOrStdout(),
				*control,
				method,
				path+"?"+q.Encode(),
			)
		},
	}
}

// callControl makes one request to the control socket and prints its answer.
func callControl(ctx context.Context, out io.Writer, control, method, path string) error {
	if control == "" {
		return errors.New("say which ctl-lab: --control SOCKET, the same that it was started with")
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", control)
	}, DisableKeepAlives: true}
	req, err := http.NewRequestWithContext(ctx, method, "http://ctl-lab"+path, nil)
	if err != nil {
		return err
	}
	resp, err := (&http.Client{Transport: tr}).Do(req)
	if err != nil {
		return fmt.Errorf("control socket %s: %w", control, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 4096))
		return errors.New(strings.TrimSpace(string(text)))
	}
	_, err = io.Copy(out, io.LimitReader(resp.Body, maxAnswer))
	return err
}
