package unixctl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
)

// maxAnswer bounds an answer, in bytes: a table of a million entries fits.
const maxAnswer = 64 << 20

// RefusedError is what ovs-vswitchd answers instead of doing what it was asked.
type RefusedError struct{ Text string }

func (e *RefusedError) Error() string { return "ovs-vswitchd refuses: " + strings.TrimSpace(e.Text) }

// Call has ovs-vswitchd carry out one command and returns its output. target is
// unix:PATH, where * stands for any text in a file name and the first socket that
// answers counts, or tcp:ADDRESS:PORT.
func Call(ctx context.Context, target, method string, params ...string) (string, error) {
	scheme, place, _ := strings.Cut(target, ":")
	switch scheme {
	case "tcp":
		return at(ctx, "tcp", place, method, params)
	case "unix":
	default:
		return "", fmt.Errorf("%q is no control socket; write unix:PATH or tcp:ADDRESS:PORT", target)
	}
	if !strings.Contains(place, "*") {
		return at(ctx, "unix", place, method, params)
	}
	paths, err := filepath.Glob(place)
	if err != nil {
		return "", err
	}
	err = fmt.Errorf("there is no socket %s", place)
	for _, p := range paths { // those that were left behind do not answer
		var c net.Conn
		if c, err = (&net.Dialer{}).DialContext(ctx, "unix", p); err == nil {
			return ask(ctx, c, method, params)
		}
	}
	return "", err
}

func at(ctx context.Context, network, place, method string, params []string) (string, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, network, place)
	if err != nil {
		return "", err
	}
	return ask(ctx, c, method, params)
}

func ask(ctx context.Context, c net.Conn, method string, params []string) (string, error) {
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { c.Close() })
	defer stop()
	if params == nil {
		params = []string{}
	}
	q := struct {
		Method string   `json:"method"`
		Params []string `json:"params"`
		ID     int      `json:"id"`
	}{method, params, 1}
	if err := json.NewEncoder(c).Encode(q); err != nil {
		return "", errors.Join(err, ctx.Err())
	}
	var a struct {
		Result any `json:"result"`
		Error  any `json:"error"`
	}
	if err := json.NewDecoder(io.LimitReader(c, maxAnswer)).Decode(&a); err != nil {
		return "", errors.Join(fmt.Errorf("no answer from ovs-vswitchd: %w", err), ctx.Err())
	}
	if a.Error != nil {
		return "", &RefusedError{fmt.Sprintf("%.300v", a.Error)}
	}
	text, ok := a.Result.(string)
	if !ok {
		return "", errors.New("the answer of ovs-vswitchd is no text")
	}
	return text, nil
}
