// Command baseline is the peer of bench: the same plugin behind nothing but
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
	"os/signal"
	"syscall"

	"github.com/gorilla/mux"
	"github.com/hashicorp/go-hclog"
	plugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"ctl.internal/internal/wire"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "baseline:", err)
		os.Exit(1)
	}
}

func run(binary string) error {
	client := plugin.NewClient(&plugin.ClientConfig{HandshakeConfig: wire.Handshake, Plugins: wire.Set(nil), AutoMTLS: true,
		Cmd: exec.Command(binary), AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC}, Logger: hclog.NewNullLogger()})
	defer client.Kill()
	rpc, err := client.Client()
	if err != nil {
		return err
	}
	raw, err := rpc.Dispense(wire.PluginName)
	if err != nil {
		return err
	}
	conn := raw.(*grpc.ClientConn)
	// A host's socket is needed to configure, and never called.
	cfg := &pluginv1.ConfigureRequest{ApiVersion: wire.APIVersions[0], HostSocket: "/nonexistent", HostToken: "none"}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if _, err := pluginv1.NewBaseClient(conn).Configure(ctx, cfg); err != nil {
		return err
	}
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
		res, err := ops.Invoke(r.Context(), &pluginv1.InvokeRequest{Module: "bench-echo", Rpc: "echo", Input: body})
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
