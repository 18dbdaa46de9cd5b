package bierdriver

import (
	"context"
	"errors"
	"io"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// maxWatched bounds the routers of one stream.
const maxWatched = 65_535

// WatchBier runs one Driver.Watch for each router that the caller names.
func (s *server) WatchBier(stream grpc.BidiStreamingServer[pluginv1.WatchBierRequest, pluginv1.WatchBierResponse]) error {
	d, err := s.driver()
	if err != nil {
		return fault.ToStatus(err)
	}
	ctx, cancel := context.WithCancel(stream.Context())
	w := &watch{
		driver:  d,
		stream:  stream,
		running: map[string]*watched{},
	}
	defer w.all.Wait()
	defer cancel()
	for {
		q, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		for _, id := range q.Remove {
			w.removeRouter(id)
		}
		for _, r := range q.Put {
			if err := w.putRouter(ctx, r); err != nil {
				return fault.ToStatus(err)
			}
		}
	}
}

// watch is the state of one stream. Only its receiving goroutine touches running.
type watch struct {
	driver  Driver
	stream  grpc.BidiStreamingServer[pluginv1.WatchBierRequest, pluginv1.WatchBierResponse]
	running map[string]*watched
	all     sync.WaitGroup
	send    sync.Mutex
}

type watched struct {
	router *Router
	cancel context.CancelFunc
	done   chan struct{}
}

func (w *watch) putRouter(ctx context.Context, r *Router) error {
	if r.GetNodeId() == "" || r.GetHost() == "" {
		return fault.New(fault.Invalid, "a router to watch needs a node-id and a host")
	}
	old := w.running[r.NodeId]
	if old != nil && proto.Equal(old.router, r) {
		return nil
	}
	w.removeRouter(r.NodeId)
	if len(w.running) >= maxWatched {
		return fault.New(fault.TooBig, "more than %d routers on one stream", maxWatched)
	}
	ctx, cancel := context.WithCancel(ctx)
	one := &watched{
		router: r,
		cancel: cancel,
		done:   make(chan struct{}),
	}
	w.running[r.NodeId] = one
	w.all.Go(func() {
		defer close(one.done)
		w.runRouter(ctx, r)
	})
	return nil
}

// removeRouter ends the watch of a router; nothing of it is sent afterwards.
func (w *watch) removeRouter(id string) {
	if one := w.running[id]; one != nil {
		one.cancel()
		<-one.done
		delete(w.running, id)
	}
}

func (w *watch) runRouter(ctx context.Context, r *Router) {
	emit := func(e *Event) error {
		w.send.Lock()
		defer w.send.Unlock()
		if err := ctx.Err(); err != nil {
			return err
		}
		e.NodeId = r.NodeId
		return w.stream.Send(e)
	}
	err := w.driver.Watch(ctx, r, emit)
	if err != nil && ctx.Err() == nil {
		_ = emit(&Event{Session: &Session{
			State:  Down,
			Reason: "the driver stopped watching: " + err.Error(),
		}})
	}
}
