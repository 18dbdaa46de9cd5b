// Command baseline is the peer of bench: the same plugin after nothing but
// gorilla/mux and go-plugin, with no access control, validation or supervision.
// Paths: /echo calls the plugin, /none answers at once.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"

	"github.com/gorilla/mux"

	"ctl.internal/bench/rig"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

func main() { rig.Main(runBaseline) }

func runBaseline(ctx context.Context) error {
	client, conn, err := rig.Plugin(ctx, exec.Command(os.Args[1]))
	if err != nil {
		return err
	}
	defer client.Kill()
	ops := pluginv1.NewOperationsClient(conn)
	answer := []byte(`{"yang-library-version":"2016-06-21"}`) // as the controller answers
	m := mux.NewRouter()
	m.HandleFunc("/none", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	})
	m.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		res, err := ops.Invoke(
			r.Context(),
			&pluginv1.InvokeRequest{
				Module: "bench-echo",
				Rpc:    "echo",
				Input:  body,
			},
		)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(res.Output)
	})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(ln.Addr())
	srv := &http.Server{Handler: m}
	go func() { <-ctx.Done(); _ = srv.Close() }()
	if err := srv.Serve(ln); err != http.ErrServerClosed {
		return err
	}
	return nil
}
