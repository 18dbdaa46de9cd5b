// Package pair connects a client to a gRPC server inside one test, so that
// capabilities are tested through real marshalling.
package pair

import (
	"context"
	"net"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"ctl.internal/internal/wire"
)

// New serves what register registers until the test ends, and returns a
// connection to it.
func New(t testing.TB, register func(*grpc.Server)) *grpc.ClientConn {
	t.Helper()
	s := grpc.NewServer(wire.ServerOptions()...)
	register(s)
	conn, end, err := Serve(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	return conn
}

// Serve lets a server serve one connection in memory until end is called.
func Serve(s *grpc.Server) (conn *grpc.ClientConn, end func(), err error) {
	ln := bufconn.Listen(1 << 20)
	conn, err = grpc.NewClient("passthrough:///pair", wire.DialOptions(
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return ln.DialContext(ctx)
		}),
		grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		return nil, nil, err
	}
	served := make(chan struct{})
	go func() { defer close(served); _ = s.Serve(ln) }() // ends with Stop
	return conn, func() { _ = conn.Close(); s.Stop(); <-served }, nil
}
