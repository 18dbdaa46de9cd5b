package commands

import (
	"cmp"
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
	pluginv1.RegisterCommandsServer(s, &server{
		name:  name,
		table: table,
	})
}

type server struct {
	pluginv1.UnimplementedCommandsServer
	name  string
	table func() ([]Command, error)
}

// findCommand returns a command of the plugin that serves now.
func (s *server) findCommand(name string) (Command, error) {
	table, err := s.table()
	if err != nil {
		return Command{}, fault.ToStatus(err)
	}
	cmd, ok := Find(table, name)
	if !ok || cmd.Run == nil {
		return cmd, fault.ToStatus(fault.New(
			fault.Unsupported,
			"the plugin %s does not serve the command %q",
			s.name,
			name,
		))
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
	cmd, err := s.findCommand(start.GetName())
	if err != nil {
		return err
	}
	ctx := caller.FromProto(stream.Context(), start.Caller)
	in := &Invocation{
		Name:    cmd.Name,
		Options: start.Options,
		Args:    bindArguments(cmd, start.Arguments),
		Format:  start.Format,
		Width:   int(start.Width),

		Described: start.Described,
	}
	in.Caller, _ = caller.From(ctx)
	t := &remote{
		stream:  stream,
		answers: make(chan *pluginv1.PromptAnswer, 1),
		input:   make(chan []byte, 1),
	}
	in.Stdin, in.Stdout, in.Stderr, in.Terminal = &stdin{t: t}, streamWriter{t, false}, streamWriter{t, true}, t
	go t.readRequests()
	return fault.ToStatus(cmd.Run(ctx, in))
}

func (s *server) Complete(
	ctx context.Context,
	r *pluginv1.CompleteRequest,
) (*pluginv1.CompleteResponse, error) {
	cmd, err := s.findCommand(r.Name)
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

// bindArguments gives positional values their names.
func bindArguments(c Command, values []string) map[string][]string {
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

// remote is the Terminal of a command that runs in a plugin.
type remote struct {
	stream   execStream
	mu       sync.Mutex // one Send at a time
	answers  chan *pluginv1.PromptAnswer
	input    chan []byte // the piece that was asked for
	inputErr error       // why the input has ended; set before input is closed
}

// readRequests hands input and answers on until the host closes the stream, which ends
// with the command at the latest.
func (t *remote) readRequests() {
	defer close(t.answers)
	open := true
	end := func(err error) {
		if open {
			open, t.inputErr = false, err
			close(t.input)
		}
	}
	for {
		m, err := t.stream.Recv()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			end(err)
			return
		}
		if m.Answer != nil {
			select {
			case t.answers <- m.Answer:
			case <-t.stream.Context().Done():
			}
		}
		if len(m.Stdin) > 0 && open {
			select {
			case t.input <- m.Stdin:
			case <-t.stream.Context().Done():
			}
		}
		if m.StdinError != "" {
			end(fault.New(fault.Unavailable, "%s", m.StdinError))
		}
		if m.StdinClosed {
			end(nil)
		}
	}
}

// stdin is the input of a command: it asks the host for a piece whenever the command reads.
type stdin struct {
	t    *remote
	rest []byte
}

// Read implements io.Reader.
func (s *stdin) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if len(s.rest) == 0 {
		if err := s.nextPiece(); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// nextPiece waits for a piece.
func (s *stdin) nextPiece() error {
	select {
	case b, ok := <-s.t.input: // at the end the host is not asked again
		return s.takePiece(b, ok)
	default:
	}
	if err := s.t.sendResponse(&pluginv1.ExecuteResponse{ReadStdin: true}); err != nil {
		return fault.FromStatus(err)
	}
	select {
	case b, ok := <-s.t.input:
		return s.takePiece(b, ok)
	case <-s.t.stream.Context().Done():
		return s.t.stream.Context().Err()
	}
}

func (s *stdin) takePiece(b []byte, ok bool) error {
	if s.rest = b; ok {
		return nil
	}
	return cmp.Or(s.t.inputErr, io.EOF)
}

func (t *remote) sendResponse(m *pluginv1.ExecuteResponse) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stream.Send(m)
}

func (t *remote) Prompt(ctx context.Context, text string, echo bool) (string, error) {
	err := t.sendResponse(&pluginv1.ExecuteResponse{Prompt: &pluginv1.Prompt{
		Text: text,
		Echo: echo,
	}})
	if err != nil {
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
	_ = t.sendResponse(&pluginv1.ExecuteResponse{Progress: &pluginv1.Progress{
		Text:  p.Text,
		Done:  p.Done,
		Total: p.Total,
	}})
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
		if err := w.t.sendResponse(m); err != nil {
			return len(p) - len(rest), err
		}
		rest = rest[n:]
	}
	return len(p), nil
}
