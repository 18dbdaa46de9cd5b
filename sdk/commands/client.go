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

// Client runs the commands of a plugin over a connection.
type Client struct{ rpc pluginv1.CommandsClient }

// NewClient returns a client on conn.
func NewClient(conn grpc.ClientConnInterface) *Client {
	return &Client{rpc: pluginv1.NewCommandsClient(conn)}
}

// Execute runs the command in.Name in the plugin and passes input, output, prompts
// and progress through. It is a Command's Run.
func (c *Client) Execute(ctx context.Context, in *Invocation) error {
	return c.executeCommand(ctx, in, true)
}

// executeFed is Execute of a command that does not say when it reads its input: it is
// sent all of it at once.
func (c *Client) executeFed(ctx context.Context, in *Invocation) error {
	return c.executeCommand(ctx, in, false)
}

func (c *Client) executeCommand(ctx context.Context, in *Invocation, pulls bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.rpc.Execute(ctx)
	if err != nil {
		return fault.FromStatus(err)
	}
	s := &sender{stream: stream, wanted: make(chan struct{}, 1)}
	err = s.sendMessage(&pluginv1.ExecuteRequest{Start: &pluginv1.ExecuteStart{
		Name:      in.Name,
		Options:   in.Options,
		Arguments: in.Positional,
		Format:    in.Format,
		Width:     int32(in.Width),
		Described: in.Described,
		Caller:    caller.ToProto(caller.With(ctx, in.Caller)),
	}})
	if err != nil && !errors.Is(err, io.EOF) {
		return fault.FromStatus(err)
	}
	if in.Stdin == nil || in.Stdin == io.Reader(eof{}) {
		err = s.sendMessage(&pluginv1.ExecuteRequest{StdinClosed: true})
	} else {
		// Ends with the reader's end; the console closes a pipe's reader with the command.
		if !pulls {
			close(s.wanted)
		}
		go s.copyInput(ctx, in.Stdin)
	}
	if errors.Is(err, io.EOF) {
		err = nil // the command has ended already: Recv reports how
	}
	for err == nil {
		var m *pluginv1.ExecuteResponse
		if m, err = stream.Recv(); err == nil {
			if m.ReadStdin && pulls {
				s.requestPiece()
			}
			err = handleMessage(ctx, in, m, s)
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err = fault.FromStatus(err); s.unasked != nil &&
		ctx.Err() == nil { // the plugin only learned that there is no answer
		return fault.Wrap(fault.KindOf(err), err, "%v: %v", err, s.unasked)
	}
	return err
}

func handleMessage(
	ctx context.Context,
	in *Invocation,
	m *pluginv1.ExecuteResponse,
	s *sender,
) error {
	if len(m.Stdout) > 0 {
		if _, err := in.Stdout.Write(m.Stdout); err != nil {
			return err
		}
	}
	if len(m.Stderr) > 0 {
		if _, err := in.Stderr.Write(m.Stderr); err != nil {
			return err
		}
	}
	if p := m.Progress; p != nil && in.Terminal != nil {
		in.Progress(Progress{
			Text:  p.Text,
			Done:  p.Done,
			Total: p.Total,
		})
	}
	if p := m.Prompt; p != nil {
		a := &pluginv1.PromptAnswer{Cancelled: true}
		if in.Terminal != nil {
			var text string
			if text, s.unasked = in.Prompt(ctx, p.Text, p.Echo); s.unasked == nil {
				a = &pluginv1.PromptAnswer{Text: text}
			}
		}
		return s.sendMessage(&pluginv1.ExecuteRequest{Answer: a})
	}
	return nil
}

// Complete lists values for a parameter of a command; nil when the plugin fails.
func (c *Client) Complete(ctx context.Context, name, parameter, prefix string) []string {
	r, err := c.rpc.Complete(
		ctx,
		&pluginv1.CompleteRequest{
			Name:      name,
			Parameter: parameter,
			Prefix:    prefix,
			Caller:    caller.ToProto(ctx),
		},
	)
	if err != nil {
		return nil
	}
	return r.Values
}

type sender struct {
	stream grpc.BidiStreamingClient[pluginv1.ExecuteRequest, pluginv1.ExecuteResponse]
	mu     sync.Mutex
	wanted chan struct{} // a piece of the input; closed when all of it is

	unasked error // why the last question was not answered; of Execute alone
}

// requestPiece lets copy send the next piece. A command waits for one before it wants another.
func (s *sender) requestPiece() {
	select {
	case s.wanted <- struct{}{}:
	default:
	}
}

func (s *sender) sendMessage(m *pluginv1.ExecuteRequest) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stream.Send(m)
}

// copyInput sends a piece of the input whenever one is wanted, until the input or the command ends.
func (s *sender) copyInput(ctx context.Context, r io.Reader) {
	for {
		select {
		case <-s.wanted:
		case <-ctx.Done():
			return
		}
		m := &pluginv1.ExecuteRequest{Stdin: make([]byte, 32<<10)}
		n, err := r.Read(m.Stdin)
		for n == 0 && err == nil {
			n, err = r.Read(m.Stdin)
		}
		m.Stdin = m.Stdin[:n]
		if m.StdinClosed = err != nil; m.StdinClosed && !errors.Is(err, io.EOF) {
			m.StdinError = err.Error()
		}
		if s.sendMessage(m) != nil || m.StdinClosed {
			return
		}
	}
}

type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }

// NoInput is the Stdin of a command that nothing is piped into.
var NoInput io.Reader = eof{}
