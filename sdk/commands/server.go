package commands

import (
	"context"
	"errors"
	"io"
	"sync"

	"google.golang.org/grpc"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
)

// Register serves commands on a gRPC server; sdk.Serve does this for a plugin.
// name is the plugin's; table returns the commands, or why there are none yet.
func Register(s grpc.ServiceRegistrar, name string, table func() ([]Command, error)) {
	pluginv1.RegisterCommandsServer(s, &server{name: name, table: table})
}

type server struct {
	pluginv1.UnimplementedCommandsServer
	name  string
	table func() ([]Command, error)
}

// find returns a command of the plugin that serves now.
func (s *server) find(name string) (Command, error) {
	table, err := s.table()
	if err != nil {
		return Command{}, fault.ToStatus(err)
	}
	cmd, ok := Find(table, name)
	if !ok || cmd.Run == nil {
		return cmd, fault.ToStatus(fault.New(fault.Unsupported, "the plugin %s does not serve the command %q", s.name, name))
	}
	return cmd, nil
}

type execStream = grpc.BidiStreamingServer[pluginv1.ExecuteRequest, pluginv1.ExecuteResponse]

func (s *server) Execute(stream execStream) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	start := first.GetStart()
	cmd, err := s.find(start.GetName())
	if err != nil {
		return err
	}
	ctx := caller.FromProto(stream.Context(), start.Caller)
	in := &Invocation{Name: cmd.Name, Options: start.Options, Args: bind(cmd, start.Arguments), Format: start.Format, Width: int(start.Width)}
	in.Caller, _ = caller.From(ctx)
	t := &remote{stream: stream, answers: make(chan *pluginv1.PromptAnswer, 1), input: make(chan []byte, maxInput), asked: make(chan struct{})}
	pr, pw := io.Pipe()
	in.Stdin, in.Stdout, in.Stderr, in.Terminal = pr, streamWriter{t, false}, streamWriter{t, true}, t
	go t.read(pw)
	defer pr.Close()
	return fault.ToStatus(cmd.Run(ctx, in))
}

func (s *server) Complete(ctx context.Context, r *pluginv1.CompleteRequest) (*pluginv1.CompleteResponse, error) {
	cmd, err := s.find(r.Name)
	if err != nil {
		return nil, err
	}
	ctx = caller.FromProto(ctx, r.Caller)
	for _, a := range cmd.Arguments {
		if a.Name == r.Parameter && a.Complete != nil {
			return &pluginv1.CompleteResponse{Values: a.Complete(ctx, r.Prefix)}, nil
		}
	}
	for _, o := range cmd.Options {
		if o.Name == r.Parameter && o.Complete != nil {
			return &pluginv1.CompleteResponse{Values: o.Complete(ctx, r.Prefix)}, nil
		}
	}
	return &pluginv1.CompleteResponse{}, nil
}

// bind gives positional values their names.
func bind(c Command, values []string) map[string][]string {
	out := map[string][]string{}
	for i, a := range c.Arguments {
		if i >= len(values) {
			break
		}
		if a.Repeated {
			out[a.Name] = values[i:]
			break
		}
		out[a.Name] = values[i : i+1]
	}
	return out
}

// maxInput is how many pieces of input may wait for a command that does not read them: it
// may be asking a question instead, whose answer comes after them.
const maxInput = 16

// remote is the Terminal of a command that runs in a plugin.
type remote struct {
	stream  execStream
	mu      sync.Mutex // one Send at a time
	answers chan *pluginv1.PromptAnswer
	input   chan []byte
	once    sync.Once
	asked   chan struct{} // closed by the first Prompt
}

// read hands input and answers on until the host closes the stream, which ends
// with the command at the latest.
func (t *remote) read(stdin *io.PipeWriter) {
	end := make(chan error, 1) // why the input ended; the first reason counts
	go func() {
		for b := range t.input {
			_, _ = stdin.Write(b) // fails once the command has ended
		}
		stdin.CloseWithError(<-end)
	}()
	open := true
	finish := func(err error) {
		if open {
			open = false
			end <- err
			close(t.input)
		}
	}
	for {
		m, err := t.stream.Recv()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			finish(err)
			close(t.answers)
			return
		}
		if m.Answer != nil {
			select {
			case t.answers <- m.Answer:
			case <-t.stream.Context().Done():
			}
		}
		if len(m.Stdin) > 0 && open && !t.feed(m.Stdin) {
			finish(fault.New(fault.TooBig, "the command asked a question, but too much input was already waiting"))
		}
		if m.StdinClosed {
			finish(nil)
		}
	}
}

// feed queues a piece of input. It waits for room, unless the command has asked something:
// then it may be waiting for an answer; false when there is no room.
func (t *remote) feed(b []byte) bool {
	select {
	case t.input <- b:
		return true
	case <-t.stream.Context().Done():
		return true
	case <-t.asked:
	}
	select {
	case t.input <- b:
		return true
	default:
		return false
	}
}

func (t *remote) send(m *pluginv1.ExecuteResponse) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stream.Send(m)
}

func (t *remote) Prompt(ctx context.Context, text string, echo bool) (string, error) {
	t.once.Do(func() { close(t.asked) })
	if err := t.send(&pluginv1.ExecuteResponse{Prompt: &pluginv1.Prompt{Text: text, Echo: echo}}); err != nil {
		return "", fault.FromStatus(err)
	}
	select {
	case a, ok := <-t.answers:
		if !ok || a.Cancelled {
			return "", fault.New(fault.Unavailable, "the prompt %q was not answered", text)
		}
		return a.Text, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func (t *remote) Progress(p Progress) {
	_ = t.send(&pluginv1.ExecuteResponse{Progress: &pluginv1.Progress{Text: p.Text, Done: p.Done, Total: p.Total}})
}

type streamWriter struct {
	t      *remote
	stderr bool
}

func (w streamWriter) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		n := min(len(rest), 32<<10)
		m := &pluginv1.ExecuteResponse{}
		// gRPC may hold a message after Send returns; the caller may reuse p.
		b := append([]byte(nil), rest[:n]...)
		if w.stderr {
			m.Stderr = b
		} else {
			m.Stdout = b
		}
		if err := w.t.send(m); err != nil {
			return len(p) - len(rest), err
		}
		rest = rest[n:]
	}
	return len(p), nil
}
