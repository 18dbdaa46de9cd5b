package process

import (
	"google.golang.org/grpc"

	"ctl.internal/internal/wire"
)

// Buffers and windows as measured for this hop; a fixed window also turns the
// bandwidth probes off, which cost more than they bring on a unix socket.
const (
	bufferSize = 128 << 10
	windowSize = 8 << 20
)

func dialOptions() []grpc.DialOption {
	return wire.DialOptions(
		grpc.WithReadBufferSize(bufferSize),
		grpc.WithWriteBufferSize(bufferSize),
		grpc.WithInitialWindowSize(windowSize),
		grpc.WithInitialConnWindowSize(windowSize),
		grpc.WithDisableRetry(),
		grpc.WithDisableServiceConfig(),
		grpc.WithDisableHealthCheck(),
	)
}
