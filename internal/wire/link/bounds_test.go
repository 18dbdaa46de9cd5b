package link

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"ctl.internal/internal/wire"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

func answerOf(id uint64, n int) *pluginv1.LinkAnswer {
	return &pluginv1.LinkAnswer{Id: id, Response: pattern(n)}
}

// TestLargeAnswersTakeTurns: each message holds the small answers that are there and
// one part of one large answer.
func TestLargeAnswersTakeTurns(t *testing.T) {
	o := newOutbox(newAnswerRoom())
	for id, n := range map[uint64]int{1: 2*chunk + 1, 2: 2 * chunk} {
		if err := o.room.acquireLarge(t.Context(), n); err != nil {
			t.Fatal(id, err)
		}
	}
	o.addAnswer(answerOf(1, 2*chunk+1))
	o.addAnswer(answerOf(2, 2*chunk))
	o.addAnswer(answerOf(3, chunk))
	var got [][]uint64
	parts := map[uint64][]byte{}
	for {
		m := &pluginv1.CarryResponse{}
		o.takeAnswers(m)
		if len(m.Answers) == 0 {
			break
		}
		var ids []uint64
		for _, a := range m.Answers {
			ids = append(ids, a.Id)
			if first := parts[a.Id] == nil; a.Id != 3 && first != (a.Size > 0) {
				t.Errorf("size %d in a part of %d", a.Size, a.Id)
			}
			parts[a.Id] = append(parts[a.Id], a.Response...)
		}
		got = append(got, ids)
	}
	if want := [][]uint64{{3, 1}, {2}, {1}, {2}, {1}}; !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("%v, want %v", got, want)
	}
	for id, n := range map[uint64]int{1: 2*chunk + 1, 2: 2 * chunk, 3: chunk} {
		if !slices.Equal(parts[id], pattern(n)) {
			t.Errorf("answer %d has %d bytes, or others", id, len(parts[id]))
		}
	}
	if !o.room.large.TryAcquire(maxLarge) || o.room.small.Load() != 0 {
		t.Error("the room of answers that were sent is not free")
	}
}

// TestLargeAnswersWaitForRoom: no more than maxLarge is queued, and no more than that waits for it, over all links of a
// server; a call that is cancelled and a link that ends give their room back.
func TestLargeAnswersWaitForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		room := newAnswerRoom()
		o, other := newOutbox(room), newOutbox(room)
		half := &pluginv1.LinkAnswer{Id: 1, Response: make([]byte, maxLarge/2+1)}
		n := len(half.Response)
		if err := room.acquireLarge(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		o.addAnswer(half)
		gone, cancel := context.WithCancel(t.Context())
		done := make(chan error, 3)
		go func() { done <- room.acquireLarge(gone, n) }()
		synctest.Wait()
		if err := room.acquireLarge(t.Context(), n); status.Code(err) != codes.ResourceExhausted {
			t.Fatalf("more than %d MiB may wait: %v", maxLarge>>20, err)
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		go func() { done <- room.acquireLarge(t.Context(), n) }()
		synctest.Wait()
		o.dropAnswer(1)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		other.addAnswer(&pluginv1.LinkAnswer{Id: 3, Response: half.Response})
		other.addAnswer(&pluginv1.LinkAnswer{Id: 4, Response: make([]byte, 100)})
		other.close()
		if err := room.acquireLarge(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		other.addAnswer(&pluginv1.LinkAnswer{Id: 5, Response: half.Response}) // of a call that ends after its link
		if !room.large.TryAcquire(maxLarge) || room.small.Load() != 0 {
			t.Error("the room of a link that has ended is not free")
		}
	})
}

// TestSmallAnswersThatAreNotRead: while small answers wait, no more calls are read.
func TestSmallAnswersThatAreNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		room := newAnswerRoom()
		o := newOutbox(room)
		for room.small.Load() <= maxSmall {
			o.addAnswer(answerOf(1, chunk))
		}
		reads := make(chan struct{})
		go func() { o.waitSmall(t.Context()); close(reads) }()
		synctest.Wait()
		select {
		case <-reads:
			t.Fatal("calls are read although the answers are not")
		default:
		}
		o.takeAnswers(&pluginv1.CarryResponse{})
		<-reads
	})
}

// script is a stream that plays a plugin to a client, or a host to a session.
type script struct {
	grpc.ClientStream
	ctx  context.Context
	in   chan any
	sent chan *pluginv1.CarryRequest
}

func (s *script) Send(m *pluginv1.CarryRequest) error {
	c := &pluginv1.CarryRequest{}
	for _, k := range m.Calls {
		c.Calls = append(c.Calls, &pluginv1.LinkCall{Id: k.Id, Method: k.Method, Timeout: k.Timeout})
	}
	select {
	case s.sent <- c:
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}

func (s *script) Recv() (*pluginv1.CarryResponse, error) { return nil, errors.New("not used") }

func (s *script) RecvMsg(v any) error {
	select {
	case m := <-s.in:
		if err, ok := m.(error); ok {
			return err
		}
		v.(*pluginv1.CarryResponse).Answers = m.(*pluginv1.CarryResponse).Answers
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}

func played(t *testing.T) (*Conn, *script) {
	ctx, cancel := context.WithCancel(context.Background())
	s := &script{ctx: ctx, in: make(chan any, 10), sent: make(chan *pluginv1.CarryRequest)}
	c := &Conn{calls: refusing{}, link: newClient(s, cancel)}
	t.Cleanup(c.Close)
	return c, s
}

var errByItself = errors.New("made by itself")

type refusing struct{ grpc.ClientConnInterface }

func (refusing) Invoke(context.Context, string, any, any, ...grpc.CallOption) error {
	return errByItself
}

// TestPluginThatLies: what a plugin may answer wrongly ends that call, no other.
func TestPluginThatLies(t *testing.T) {
	for name, c := range map[string]struct {
		answers []*pluginv1.LinkAnswer
		code    codes.Code
	}{
		"larger than allowed":   {[]*pluginv1.LinkAnswer{{Id: 1, Size: wire.MaxMessage + 1, Response: []byte("x")}}, codes.ResourceExhausted},
		"larger than announced": {[]*pluginv1.LinkAnswer{{Id: 1, Size: 2, Response: []byte("xxx")}}, codes.Internal},
		"parts that never end":  {[]*pluginv1.LinkAnswer{{Id: 1, Size: 3, Response: []byte("xx")}, {Id: 1, Response: []byte("xx")}}, codes.Internal},
		"no status":             {[]*pluginv1.LinkAnswer{{Id: 1, Status: []byte{0xff}}}, codes.Internal},
		"a status without one":  {[]*pluginv1.LinkAnswer{{Id: 1, Status: []byte{8, 0}}}, codes.Internal},
		"an unknown id first":   {[]*pluginv1.LinkAnswer{{Id: 77, Size: 1 << 60}, {Id: 1}}, codes.OK},
		"no message":            {[]*pluginv1.LinkAnswer{{Id: 1, Response: []byte{0xff}}}, codes.Internal},
	} {
		t.Run(name, func(t *testing.T) {
			conn, s := played(t)
			go func() {
				<-s.sent
				s.in <- &pluginv1.CarryResponse{Answers: append(c.answers, &pluginv1.LinkAnswer{Id: 1})} // and once more
			}()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			err := conn.Invoke(ctx, "/x/y", &pluginv1.InvokeRequest{}, &pluginv1.InvokeResponse{})
			if status.Code(err) != c.code {
				t.Fatal(err)
			}
		})
	}
}

// TestAnswersInPartsThatNeverEnd: a plugin that begins large answers and ends none gets so many, and no more; those that
// their callers no longer wait for make room.
func TestAnswersInPartsThatNeverEnd(t *testing.T) {
	conn, s := played(t)
	const fit = maxPartial / wire.MaxMessage
	ctx, cancel := context.WithCancel(t.Context())
	results := make(chan error)
	begin := func(id uint64) {
		go func() { results <- conn.Invoke(ctx, "/x/y", &pluginv1.InvokeRequest{}, &pluginv1.InvokeResponse{}) }()
		<-s.sent
		s.in <- &pluginv1.CarryResponse{Answers: []*pluginv1.LinkAnswer{{Id: id, Size: wire.MaxMessage, Response: []byte("x")}}}
	}
	for id := range uint64(fit) {
		begin(id + 1)
	}
	begin(fit + 1)
	if err := <-results; status.Code(err) != codes.ResourceExhausted {
		t.Fatal(err)
	}
	cancel()
	for range fit {
		if err := <-results; status.Code(err) != codes.Canceled {
			t.Fatal(err)
		}
	}
	conn.link.mu.Lock()
	defer conn.link.mu.Unlock()
	if conn.link.partial != 0 {
		t.Errorf("%d bytes count still", conn.link.partial)
	}
}

// TestPluginThatDoesNotRead: what waits to be sent is bounded; the calls beyond go by
// themselves. Callers get their deadline, whatever the plugin does.
func TestPluginThatDoesNotRead(t *testing.T) {
	conn, _ := played(t)
	ctx, cancel := context.WithCancel(t.Context())
	input := make([]byte, maxRequest-100)
	results := make(chan error)
	const n = 2 * maxQueued / maxRequest
	for range n {
		go func() {
			results <- conn.Invoke(ctx, "/x/y", &pluginv1.InvokeRequest{Input: input}, &pluginv1.InvokeResponse{})
		}()
	}
	for range n - maxQueued/(maxRequest-100) - 10 {
		if err := <-results; !errors.Is(err, errByItself) {
			t.Fatal(err)
		}
	}
	cancel()
	for range maxQueued/(maxRequest-100) + 10 {
		if err := <-results; !errors.Is(err, errByItself) && status.Code(err) != codes.Canceled {
			t.Fatal(err)
		}
	}
}

// TestHostThatLies: an id used twice ends the link; a cancellation of nothing does not.
func TestHostThatLies(t *testing.T) {
	s := &Server{room: newAnswerRoom(), methods: map[string]method{"/x/y": {"/x/y", func(_ any, ctx context.Context, _ func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}, nil}}}
	base, cancel := context.WithCancel(t.Context())
	defer cancel()
	k := newSession(s, base, base)
	k.cancelCall(5)
	if err := k.startCall(&pluginv1.LinkCall{Id: 5, Method: "/x/y"}); err != nil {
		t.Fatal(err)
	}
	if err := k.startCall(&pluginv1.LinkCall{Id: 5, Method: "/x/y"}); status.Code(err) != codes.InvalidArgument {
		t.Fatal(err)
	}
}
