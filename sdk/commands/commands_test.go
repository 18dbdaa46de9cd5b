package commands_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"go.uber.org/goleak"
	"google.golang.org/grpc"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/internal/pair"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type terminal struct {
	answers  []string
	progress []string
}

func (t *terminal) Prompt(_ context.Context, text string, echo bool) (string, error) {
	if len(t.answers) == 0 {
		return "", fault.New(fault.Unavailable, "nobody there")
	}
	a := t.answers[0]
	t.answers = t.answers[1:]
	return a, nil
}

func (t *terminal) Progress(p commands.Progress) {
	t.progress = append(t.progress, fmt.Sprintf("%s %d/%d", p.Text, p.Done, p.Total))
}

var table = []commands.Command{{
	Name: "demo:all", Summary: "uses everything", Help: "…",
	Arguments: []commands.Argument{
		{Name: "first", Required: true, Complete: func(_ context.Context, p string) []string { return []string{p + "1", p + "2"} }},
		{Name: "rest", Repeated: true},
	},
	Options: []commands.Option{{Name: "loud", Type: commands.Bool}},
	Run: func(ctx context.Context, in *commands.Invocation) error {
		input, _ := io.ReadAll(in.Stdin)
		who, _ := caller.From(ctx)
		in.Progress(commands.Progress{Text: "half", Done: 1, Total: 2})
		secret, err := in.Prompt(ctx, "Password: ", false)
		if err != nil {
			return err
		}
		fmt.Fprintf(in.Stderr, "warned")
		in.Printf("%s %v %v %v %s %s %s", in.Arg("first"), in.Args["rest"], in.Flag("loud"), in.Format, input, who.User, secret)
		return nil
	},
}, {
	Name: "demo:ask", Summary: "asks", Help: "…", Run: ask,
}, {
	Name: "demo:copy", Summary: "copies", Help: "…",
	Run: func(_ context.Context, in *commands.Invocation) error {
		_, err := io.Copy(in.Stdout, in.Stdin)
		return err
	},
}, {
	Name: "demo:fail", Summary: "fails", Help: "…",
	Run: func(context.Context, *commands.Invocation) error {
		return fault.At(fault.Exists, "vlan 7", "it is there already")
	},
}}

func ask(_ context.Context, in *commands.Invocation) error {
	a, err := in.Prompt(context.Background(), "Password: ", false)
	_, _ = io.WriteString(in.Stdout, a)
	return err
}

func remote(t *testing.T) []commands.Command {
	c := commands.NewClient(pair.New(t, func(s *grpc.Server) {
		commands.Register(s, "demo", func() ([]commands.Command, error) { return table, nil })
	}))
	return commands.FromProto(commands.ToProto(table), c)
}

func TestCommandRunsInThePlugin(t *testing.T) {
	cmd, _ := commands.Find(remote(t), "demo:all")
	var out, errs bytes.Buffer
	term := &terminal{answers: []string{"s3cret"}}
	in := &commands.Invocation{Name: cmd.Name, Options: map[string]string{"loud": "true"}, Positional: []string{"a", "b", "c"}, Format: "json",
		Caller: caller.Caller{User: "eve"}, Stdin: strings.NewReader("piped"), Stdout: &out, Stderr: &errs, Terminal: term}
	if err := cmd.Run(context.Background(), in); err != nil {
		t.Fatal(err)
	}
	if want := "a [b c] true json piped eve s3cret"; out.String() != want || errs.String() != "warned" {
		t.Fatalf("out %q, err %q; want %q", out.String(), errs.String(), want)
	}
	if len(term.progress) != 1 || term.progress[0] != "half 1/2" {
		t.Fatalf("progress %v", term.progress)
	}
}

func TestPromptWithoutAUser(t *testing.T) {
	cmd, _ := commands.Find(remote(t), "demo:all")
	err := cmd.Run(context.Background(), &commands.Invocation{Name: cmd.Name, Stdin: commands.NoInput, Stdout: io.Discard, Stderr: io.Discard, Terminal: &terminal{}})
	if fault.KindOf(err) != fault.Unavailable {
		t.Fatalf("got %v", err)
	}
}

// printf pw | ctl 'demo:ask': a command that asks reads nothing of what is piped in, however much it is.
func TestAQuestionLeavesTheInput(t *testing.T) {
	cmd, _ := commands.Find(remote(t), "demo:ask")
	var out bytes.Buffer
	err := cmd.Run(t.Context(), &commands.Invocation{Name: cmd.Name, Stdin: refusing{t}, Stdout: &out, Stderr: io.Discard, Terminal: &terminal{answers: []string{"pw"}}})
	if err != nil || out.String() != "pw" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

// refusing is an input that must not be read.
type refusing struct{ t *testing.T }

func (r refusing) Read([]byte) (int, error) {
	r.t.Error("the input was read")
	return 0, io.EOF
}

// A question can be asked in the middle of input of any length, and the command gets all of it.
func TestAQuestionAmidTheInput(t *testing.T) {
	cmd, _ := commands.Find(remote(t), "demo:all")
	text := strings.Repeat("0123456789abcdef", 1<<16)
	var out bytes.Buffer
	err := cmd.Run(t.Context(), &commands.Invocation{Name: cmd.Name, Stdin: iotest.OneByteReader(strings.NewReader(text[:200])), Stdout: &out, Stderr: io.Discard, Terminal: &terminal{answers: []string{"pw"}}})
	if err != nil || !strings.Contains(out.String(), text[:200]) {
		t.Errorf("piece by piece: %q, %v", out.String(), err)
	}
	out.Reset()
	err = cmd.Run(t.Context(), &commands.Invocation{Name: cmd.Name, Stdin: strings.NewReader(text), Stdout: &out, Stderr: io.Discard, Terminal: &terminal{answers: []string{"pw"}}})
	if err != nil || !strings.Contains(out.String(), text) || !strings.HasSuffix(out.String(), " pw") {
		t.Errorf("1 MiB: %d bytes, %v", out.Len(), err)
	}
}

// Why the input or an answer cannot be had comes from the console to the user.
func TestWhatIsWrongWithTheInputIsSaid(t *testing.T) {
	all := remote(t)
	copies, _ := commands.Find(all, "demo:copy")
	err := copies.Run(t.Context(), &commands.Invocation{Name: copies.Name, Stdin: iotest.ErrReader(errors.New("it is no data")), Stdout: io.Discard, Stderr: io.Discard})
	if err == nil || !strings.Contains(err.Error(), "it is no data") {
		t.Errorf("input: %v", err)
	}
	asks, _ := commands.Find(all, "demo:ask")
	err = asks.Run(t.Context(), &commands.Invocation{Name: asks.Name, Stdin: commands.NoInput, Stdout: io.Discard, Stderr: io.Discard, Terminal: &terminal{}})
	if fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "nobody there") {
		t.Errorf("question: %v", err)
	}
}

// A plugin of before says nothing of how it reads its input: it is sent all of it.
func TestInputOfAPluginOfBefore(t *testing.T) {
	conn := pair.New(t, func(s *grpc.Server) { pluginv1.RegisterCommandsServer(s, before{}) })
	cmd := commands.FromProto([]*pluginv1.Command{{Name: "old:count"}}, commands.NewClient(conn))[0]
	var out bytes.Buffer
	err := cmd.Run(t.Context(), &commands.Invocation{Name: cmd.Name, Stdin: strings.NewReader(strings.Repeat("x", 200<<10)), Stdout: &out, Stderr: io.Discard})
	if err != nil || out.String() != "204800" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

// before counts the bytes of its input without asking for any.
type before struct {
	pluginv1.UnimplementedCommandsServer
}

func (before) Execute(stream grpc.BidiStreamingServer[pluginv1.ExecuteRequest, pluginv1.ExecuteResponse]) error {
	n := 0
	for {
		m, err := stream.Recv()
		if err != nil {
			return err
		}
		if n += len(m.Stdin); m.StdinClosed {
			return stream.Send(&pluginv1.ExecuteResponse{Stdout: fmt.Append(nil, n)})
		}
	}
}

func TestErrorKeepsItsKindAndPath(t *testing.T) {
	cmd, _ := commands.Find(remote(t), "demo:fail")
	err := cmd.Run(context.Background(), &commands.Invocation{Name: cmd.Name, Stdin: commands.NoInput})
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Exists || f.Path != "vlan 7" {
		t.Fatalf("got %#v", err)
	}
}

func TestCompletionAsksThePlugin(t *testing.T) {
	cmd, _ := commands.Find(remote(t), "demo:all")
	if got := cmd.Arguments[0].Complete(context.Background(), "x"); len(got) != 2 || got[1] != "x2" {
		t.Fatalf("got %v", got)
	}
	if cmd.Arguments[1].Complete != nil {
		t.Fatal("an argument without values offers completion")
	}
}

func TestListsInTables(t *testing.T) {
	tab := commands.Table{Columns: []commands.Column{{Title: "Roles", Key: "roles"}, {Title: "Ports", Key: "ports"}}}
	tab.Add(commands.List(" ", []string{"a", "b,c"}), commands.List(",", []uint32{1, 2}))
	tab.Add(commands.List[string](" ", nil), commands.List[uint32](",", nil))
	for format, want := range map[string]string{
		"text": "Roles | Ports\n------+------\na b,c | 1,2\n      | \n",
		"json": `[{"ports":[1,2],"roles":["a","b,c"]},{"ports":[],"roles":[]}]`,
	} {
		var out bytes.Buffer
		if err := (&commands.Invocation{Format: format, Stdout: &out}).Emit(tab, nil); err != nil {
			t.Fatal(err)
		}
		got := out.String()
		if format == "json" {
			out.Reset()
			if err := json.Compact(&out, []byte(got)); err != nil {
				t.Fatal(err)
			}
			got = out.String()
		}
		if got != want {
			t.Errorf("%s: got\n%q want\n%q", format, got, want)
		}
	}
}

func TestTable(t *testing.T) {
	tab := commands.Table{Columns: []commands.Column{{Title: "Name", Key: "name"}, {Title: "Ports", Key: "ports", Right: true}, {Title: "Text", Key: "text", Max: 6}}}
	tab.Add("core\x1b[2J", 24, "a longer text")
	tab.Add("e", 8, "")
	for format, want := range map[string]string{
		"text": "Name     | Ports | Text\n---------+-------+-----\ncore [2J |    24 | a…\ne        |     8 | \n",
		"json": "[\n  {\n    \"name\": \"core\\u001b[2J\",\n    \"ports\": 24,\n    \"text\": \"a longer text\"\n  },\n  {\n    \"name\": \"e\",\n    \"ports\": 8,\n    \"text\": \"\"\n  }\n]\n",
	} {
		var out bytes.Buffer
		in := &commands.Invocation{Format: format, Stdout: &out}
		if err := in.Emit(tab, nil); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("%s: got\n%swant\n%s", format, out.String(), want)
		}
	}
}

// A file that the kernel refuses to a plugin is answered with the places that it may use.
func TestFileErrorNamesThePlaces(t *testing.T) {
	refused := &os.PathError{Op: "open", Path: "/home/etc/x", Err: os.ErrPermission}
	if err := commands.FileError(refused); !errors.Is(err, os.ErrPermission) || !strings.Contains(err.Error(), "import/") {
		t.Errorf("%v", err)
	}
	if err := commands.FileError(os.ErrNotExist); err != os.ErrNotExist {
		t.Errorf("%v", err)
	}
}

func TestCSVCellsAreNoFormulas(t *testing.T) {
	for text, want := range map[string]string{
		"":        "",
		"sw1":     "sw1",
		"a=1":     "a=1",
		"-7":      "-7",
		"+7.5":    "+7.5",
		"-1e3":    "-1e3",
		"=1+1":    "'=1+1",
		"+x":      "'+x",
		"-2+3":    "'-2+3",
		"@SUM(A)": "'@SUM(A)",
		"\t=1":    "'\t=1",
		"\r=1":    "'\r=1",
	} {
		if got := commands.CSVCell(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A command reads a file of its user, or its standard input, up to a limit; what is refused is named.
func TestFilesOfCommandsAreBounded(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/four", []byte("four"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		limit int
		want  string
		kind  fault.Kind
	}{
		{"four", 4, "four", 0},
		{dir + "/four", 5, "four", 0},
		{"-", 5, "stdin", 0},
		{"four", 3, "four is larger than 3 bytes", fault.TooBig},
		{"-", 4, "- is larger than 4 bytes", fault.TooBig},
		{"none", 4, "none: no such file or directory", fault.Invalid},
		{".", 4, "cannot be read", fault.Invalid},
	} {
		in := commands.Invocation{Stdin: strings.NewReader("stdin")}
		got, err := in.ReadFile(dir, c.name, c.limit)
		switch {
		case c.kind == 0 && (err != nil || string(got) != c.want):
			t.Errorf("%s up to %d: %q, %v", c.name, c.limit, got, err)
		case c.kind != 0 && (fault.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s up to %d: %v, want %s", c.name, c.limit, err, c.want)
		}
	}
}
