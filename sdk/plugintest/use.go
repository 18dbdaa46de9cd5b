package plugintest

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"

	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/operations"
	"ctl.internal/sdk/routes"
)

// Call executes an RPC, "module:rpc". in is encoded into the members of its input,
// out decoded from those of its output; either may be nil. A json.RawMessage is
// taken and given as it is. The input is not validated here: the controller does that.
func (p *Plugin) Call(ctx context.Context, rpc string, in, out any) error {
	module, name, _ := strings.Cut(rpc, ":")
	input := []byte("{}")
	if in != nil {
		var err error
		if input, err = json.Marshal(in); err != nil {
			return err
		}
	}
	res, err := operations.NewClient(p.Conn).Invoke(p.Host.known(ctx), module, name, input)
	if err != nil || out == nil || len(res) == 0 {
		return err
	}
	return json.Unmarshal(res, out)
}

// HTTP sends a request to the plugin's routes and returns the answer. The path is
// that of the controller, with the subtree's prefix.
func (p *Plugin) HTTP(r *http.Request) (*httptest.ResponseRecorder, error) {
	w := httptest.NewRecorder()
	_, err := routes.NewClient(p.Conn).Forward(w, r.WithContext(p.Host.known(r.Context())))
	return w, err
}

// Shell runs a command of the plugin with positional arguments and options, and
// returns what it wrote. Its prompts are not answered.
func (p *Plugin) Shell(ctx context.Context, name string, args []string, options map[string]string) (string, error) {
	var out strings.Builder
	err := commands.NewClient(p.Conn).Execute(p.Host.known(ctx), &commands.Invocation{Name: name, Positional: args,
		Options: options, Format: "text", Stdin: commands.NoInput, Stdout: &out, Stderr: &out})
	return out.String(), err
}
