package labctl

import (
	"context"
	"encoding/json"
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

// request is a command for a lab that runs. It goes through the control socket.
type request[T any] struct {
	use, short string // its name, then a word for each argument
	do         func(lab T, args []string) (any, error)
}

func (r request[T]) name() string {
	name, _, _ := strings.Cut(r.use, " ")
	return name
}

// clientCommands are the command lines of requests.
func clientCommands[T any](control *string, list []request[T]) (out []*cobra.Command) {
	for _, r := range list {
		out = append(out, &cobra.Command{Use: r.use, Short: r.short, Args: cobra.ExactArgs(strings.Count(r.use, " ")), SilenceUsage: true,
			RunE: func(cmd *cobra.Command, args []string) error {
				return call(cmd.Context(), cmd.OutOrStdout(), *control, "/"+r.name()+"?"+url.Values{"arg": args}.Encode())
			}})
	}
	return out
}

// handler answers requests at the control socket: a text as it is, anything else as JSON.
func handler[T any](lab T, list []request[T]) http.Handler {
	mux := http.NewServeMux()
	for _, r := range list {
		mux.HandleFunc("POST /"+r.name(), func(w http.ResponseWriter, q *http.Request) {
			args := q.URL.Query()["arg"]
			if len(args) != strings.Count(r.use, " ") {
				http.Error(w, "the arguments are "+r.use, http.StatusBadRequest)
				return
			}
			out, err := r.do(lab, args)
			switch text, isText := out.(string); {
			case err != nil:
				http.Error(w, err.Error(), http.StatusBadRequest)
			case isText:
				fmt.Fprint(w, text)
			case out != nil:
				_ = json.NewEncoder(w).Encode(out) // the peer may be gone
			}
		})
	}
	return mux
}

// call makes one request to the control socket and prints its answer.
func call(ctx context.Context, out io.Writer, control, path string) error {
	if control == "" {
		return errors.New("say which ctl-lab: --control SOCKET, the same that it was started with")
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", control)
	}, DisableKeepAlives: true}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://ctl-lab"+path, nil)
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
