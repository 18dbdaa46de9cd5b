// Package link carries the unary calls between the host and a plugin over one
// stream of their connection (service Link of the contract). HTTP/2 charges each
// call of its own for headers and a stream; on a link a call is a few bytes more in
// a message that is sent anyway.
//
// Who calls does not see which way a call went: Conn is a connection like any
// other, and what it cannot carry over the link (streams, large requests, plugins
// that do not serve it) it makes as a call of its own. The tests run one suite over
// both ways. To relay calls unseen is package frames.
package link

import (
	"context"
	"errors"
	"io"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// Server is the end that is called: a registrar that serves over links what is
// registered with it, by the same handlers as the gRPC server that it belongs to.
type Server struct {
	pluginv1.UnimplementedLinkServer
	// Admit, which may be nil, is asked for each call on a link, with the context of the
	// link's stream, and returns the context of the call.
	Admit func(call, stream context.Context) (context.Context, error)
	// Unknown, which may be nil, answers the methods that are not registered.
	Unknown func(ctx context.Context, method string, request []byte) ([]byte, error)

	to        grpc.ServiceRegistrar
	intercept grpc.UnaryServerInterceptor
	methods   map[string]method
	services  map[string]bool
	room      *answerRoom
}

type method struct {
	name    string
	handler grpc.MethodHandler
	impl    any
}

// NewServer returns a Server in front of to, on which it registers itself too.
// intercept, which may be nil, is called around each handler: a link does not pass
// the interceptors of the gRPC server.
func NewServer(to grpc.ServiceRegistrar, intercept grpc.UnaryServerInterceptor) *Server {
	s := &Server{
		to:        to,
		intercept: intercept,
		methods:   map[string]method{},
		services:  map[string]bool{},
		room:      newAnswerRoom(),
	}
	pluginv1.RegisterLinkServer(to, s)
	return s
}

// RegisterService implements grpc.ServiceRegistrar. It must not be called any more
// once the server serves.
func (s *Server) RegisterService(desc *grpc.ServiceDesc, impl any) {
	s.to.RegisterService(desc, impl)
	s.services[desc.ServiceName] = true
	for _, m := range desc.Methods {
		full := "/" + desc.ServiceName + "/" + m.MethodName
		s.methods[full] = method{full, m.Handler, impl}
	}
}

// Carry implements the service Link.
func (s *Server) Carry(stream grpc.BidiStreamingServer[pluginv1.CarryRequest, pluginv1.CarryResponse]) error {
	// Handlers get a context without the values of this stream: what they do with
	// them (peer, header, trailer) would be done to the link.
	base, cancel := context.WithCancel(context.Background())
	unhook := context.AfterFunc(stream.Context(), cancel)
	defer unhook()
	k := newSession(s, base, stream.Context())
	defer k.out.close()
	if err := stream.Send(&pluginv1.CarryResponse{}); err != nil {
		cancel()
		return err
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		k.out.writeAnswers(base, stream.Send)
		cancel()
	}()
	err := k.readCalls(stream)
	cancel()
	<-written
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// missingMethodError is the error of gRPC for a method that is not there.
func (s *Server) missingMethodError(full string) error {
	service, name, _ := strings.Cut(strings.TrimPrefix(full, "/"), "/")
	if s.services[service] {
		return status.Errorf(codes.Unimplemented, "unknown method %v for service %v", name, service)
	}
	return status.Errorf(codes.Unimplemented, "unknown service %v", service)
}
