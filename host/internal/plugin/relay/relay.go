// Package relay carries calls from one plugin to another through the host without
// looking into the messages, so that a new kind of plug point between plugins needs
// no change here. It decides who may call what, forwards frames
// and leaves finding the provider's process to package plugin.
package relay

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"ctl.internal/internal/wire"
	"ctl.internal/internal/wire/frames"
	"ctl.internal/internal/wire/onward"
	"ctl.internal/sdk/fault"
)

// Metadata that the relay adds for the provider. Whatever a caller sends under a
// name that begins with "ctl-" is dropped.
const (
	MetaCaller = "ctl-caller" // name of the calling plugin
	MetaHops   = onward.Hops  // relays the call has passed; callers hand it on
)

// ProviderGone is the value of the trailer wire.MetaRelay when it was the provider
// that failed, not the relay.
const ProviderGone = "provider-gone"

// Relay carries the calls of one plugin.
type Relay struct {
	Caller string
	// Uses returns what the caller's manifest lists under `uses`.
	Uses func() []string
	// Find returns a connection to a provider and the capabilities it serves.
	Find func(provider string) (conn grpc.ClientConnInterface, serves []string, err error)
	// FirstAnswer bounds the wait for the first message of an answer when the caller
	// set no deadline; watches may take as long as they like.
	FirstAnswer time.Duration
	InFlight    int64 // calls at once

	inflight atomic.Int64
}

// Handle is the handler for services that the server does not know.
func (r *Relay) Handle(_ any, in grpc.ServerStream) error {
	return fault.ToStatus(r.handleStream(in))
}

func (r *Relay) handleStream(in grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(in)
	conn, md, err := r.enterCall(in.Context(), method)
	if err != nil {
		return err
	}
	defer r.inflight.Add(-1)
	return r.forwardStream(in, conn, method, md)
}

// Unary carries a unary call that did not come as a stream of its own.
func (r *Relay) Unary(ctx context.Context, method string, request []byte) ([]byte, error) {
	out, err := r.callUnary(ctx, method, request)
	return out, fault.ToStatus(err)
}

func (r *Relay) callUnary(ctx context.Context, method string, request []byte) ([]byte, error) {
	conn, md, err := r.enterCall(ctx, method)
	if err != nil {
		return nil, err
	}
	defer r.inflight.Add(-1)
	var until time.Time // ours; its own the caller knows
	if _, ok := ctx.Deadline(); !ok && r.FirstAnswer > 0 {
		until = time.Now().Add(r.FirstAnswer)
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, until)
		defer cancel()
	}
	var answer frames.Message
	err = conn.Invoke(
		metadata.NewOutgoingContext(ctx, md),
		method,
		&frames.Message{Body: request},
		&answer,
		grpc.ForceCodecV2(frames.Codec()),
	)
	if err != nil && !until.IsZero() && !time.Now().Before(until) {
		return nil, r.slowError() // who has noticed first, the provider or we, is chance
	}
	return answer.Body, err
}

// enterCall decides whether a call may pass, counts it in and returns where it goes and
// its metadata.
func (r *Relay) enterCall(
	ctx context.Context,
	method string,
) (grpc.ClientConnInterface, metadata.MD, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	provider := strings.Join(md.Get(wire.MetaProvider), "")
	if provider == "" {
		return nil, nil, fault.New(
			fault.Unsupported,
			"the host serves no %s; a call to a plugin names it in the metadata %q",
			method,
			wire.MetaProvider,
		)
	}
	hops := onward.HopsOf(md)
	if err := Circle(hops); err != nil {
		return nil, nil, err
	}
	if _, err := Capability(method); err != nil {
		return nil, nil, err
	}
	conn, serves, err := r.Find(provider)
	if err != nil {
		return nil, nil, err
	}
	if err := Allow(r.Uses(), method, provider, serves); err != nil {
		return nil, nil, err
	}
	n := r.inflight.Add(1)
	if r.InFlight > 0 && n > r.InFlight {
		r.inflight.Add(-1)
		return nil, nil, fault.New(
			fault.Unavailable,
			"plugin %s has %d calls to others under way; try again later",
			r.Caller,
			r.InFlight,
		)
	}
	return conn, forwardedMetadata(md, r.Caller, hops+1), nil
}

// Circle refuses a call that has passed the host too often.
func Circle(hops int) error {
	if hops >= onward.MaxHops {
		return fault.New(
			fault.Denied,
			"the call has passed the host %d times: plugins call each other in a loop",
			hops,
		)
	}
	return nil
}

var errSlow = errors.New("no answer in time")

// forwardStream pumps frames both ways until one side ends.
func (r *Relay) forwardStream(
	in grpc.ServerStream,
	conn grpc.ClientConnInterface,
	method string,
	md metadata.MD,
) error {
	ctx, cancel := context.WithCancelCause(in.Context())
	defer cancel(nil)
	_, ok := ctx.Deadline()
	if !ok && r.FirstAnswer > 0 && !Watching(method) {
		t := time.AfterFunc(r.FirstAnswer, func() { cancel(errSlow) })
		defer t.Stop()
		in = &answered{ServerStream: in, timer: t}
	}
	if err := frames.Pump(ctx, cancel, in, conn, method, md); err != nil {
		return r.relayError(in, ctx, err)
	}
	return nil
}

// relayError chooses the error that says most and marks those that are the provider's.
func (r *Relay) relayError(in grpc.ServerStream, ctx context.Context, err error) error {
	if errors.As(err, new(interface{ RetryAfter() time.Duration })) {
		in.SetTrailer(metadata.Pairs(wire.MetaRelay, ProviderGone))
		return err
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errSlow):
		return r.slowError()
	case cause != nil && !errors.Is(cause, context.Canceled):
		return cause
	}
	return err
}

// Watching reports whether a method is a watch by its name.
func Watching(method string) bool {
	return strings.Contains(method, "/Watch")
}

func (r *Relay) slowError() error {
	return fault.New(fault.Timeout, "the provider did not answer within %s", r.FirstAnswer)
}

// answered stops the timer for the first answer.
type answered struct {
	grpc.ServerStream
	timer *time.Timer
}

func (a *answered) SendMsg(m any) error {
	a.timer.Stop()
	return a.ServerStream.SendMsg(m)
}

func forwardedMetadata(md metadata.MD, caller string, hops int) metadata.MD {
	out := frames.Passing(md)
	out.Set(MetaCaller, caller)
	out.Set(MetaHops, strconv.Itoa(hops))
	return out
}

// personal are capabilities whose messages name the caller. The relay cannot vouch
// for what is inside a message, so they are reached through the host's services
// only, which fill the caller in.
var personal = []string{"operations", "routes", "commands", "realm"}

// Capability returns the capability that a method belongs to: the name of its
// service in lower case. "/ctl.plugin.v1.SwitchDriver/ReadVlans" is "switchdriver".
func Capability(method string) (string, error) {
	service, name, ok := strings.Cut(strings.TrimPrefix(method, "/"), "/")
	if !ok || service == "" || name == "" || !strings.HasPrefix(method, "/") {
		return "", fault.New(fault.Malformed, "%q is not a method", method)
	}
	if strings.HasPrefix(service, "plugin.") || strings.HasPrefix(service, "grpc.") {
		return "", fault.New(
			fault.Denied,
			"%s is between the host and a plugin and is not relayed",
			service,
		)
	}
	c := strings.ToLower(service[strings.LastIndexByte(service, '.')+1:])
	switch {
	case c == "":
		return "", fault.New(fault.Malformed, "%q is not a method", method)
	case strings.HasPrefix(service, "ctl.plugin.v1.") && (c == "base" || strings.HasPrefix(c, "host")):
		return "", fault.New(
			fault.Denied,
			"%s is between the host and a plugin and is not relayed",
			service,
		)
	case slices.Contains(personal, c):
		return "", fault.New(
			fault.Denied,
			"the capability %q acts for a user and is not relayed; use the host's Operations service",
			c,
		)
	}
	return c, nil
}

// Allow decides whether a plugin that uses some capabilities may call a method of a
// provider that serves some.
func Allow(uses []string, method, provider string, serves []string) error {
	c, err := Capability(method)
	if err != nil {
		return err
	}
	if !slices.Contains(uses, c) {
		return fault.New(
			fault.Denied,
			"the manifest does not list the capability %q under `uses`",
			c,
		)
	}
	if !slices.Contains(serves, c) {
		return fault.New(
			fault.Unsupported,
			"plugin %s does not serve the capability %q",
			provider,
			c,
		)
	}
	return nil
}
