package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/host/internal/home"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// The bounds of one restconf:call. An answer has at most callBytes, what is sent the limit of the HTTP listener.
const (
	callTime  = 2 * time.Minute
	callBytes = 64 << 20
)

// restCommands are restconf:*: a request of the trees from the console, for ctl apply and ctl get.
func (s *Server) restCommands() []commands.Command {
	return []commands.Command{{
		Name:    "restconf:call",
		Summary: "make a RESTCONF request and show the answer",
		Help: "restconf:call GET /rests/data/network-topology:network-topology\nrestconf:call PUT /rests/data/… --data FILE\n" +
			"It is checked by the same rules, policies and YANG modules as a request over HTTP. With --data - the body is the standard input.",
		Options: []commands.Option{{
			Name:  "data",
			Short: "d",
			Help:  "file with the JSON that is sent; - = standard input",
			Type:  commands.File,
		}},
		Arguments: []commands.Argument{{
			Name:     "method",
			Help:     "of the request",
			Required: true,
			Values:   []string{"GET", "POST", "PUT", "PATCH", "DELETE"},
		},
			{
				Name:     "path",
				Help:     "/rests/… or /restconf/…, with its query",
				Required: true,
			}},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			var body io.Reader = http.NoBody
			switch file := in.Option("data"); file {
			case "":
			case "-":
				body = in.Stdin
			default:
				f, err := home.OpenRegular(file)
				if err != nil {
					return fault.Wrap(fault.NotFound, err, "%v", err)
				}
				defer f.Close()
				body = f
			}
			answer, err := s.callTrees(ctx, in.Caller, in.Arg("method"), in.Arg("path"), body, callBytes)
			if err == nil && len(answer) > 0 {
				_, err = in.Stdout.Write(append(bytes.TrimRight(answer, "\n"), '\n'))
			}
			return err
		},
	}}
}

// callTrees makes a request of the trees for somebody who is known already. An answer of more than limit bytes is refused.
func (s *Server) callTrees(
	ctx context.Context,
	who caller.Caller,
	method, target string,
	body io.Reader,
	limit int,
) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	if !strings.HasPrefix(target, "/rests/") && !strings.HasPrefix(target, "/restconf/") {
		return nil, fault.New(
			fault.Invalid,
			"the path %q does not begin with /rests/ or /restconf/",
			target,
		)
	}
	sent, err := io.ReadAll(io.LimitReader(body, int64(s.loaded.Limits.Body)+1))
	if err != nil {
		return nil, err
	}
	if len(sent) > int(s.loaded.Limits.Body) {
		return nil, fault.New(
			fault.TooBig,
			"the request body is larger than limits.body, %d bytes",
			s.loaded.Limits.Body,
		)
	}
	r, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(sent))
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "the path %q cannot be read: %v", target, err)
	}
	r.RequestURI, r.RemoteAddr = target, who.Address
	r.Header = http.Header{
		"Accept":        {"application/json"},
		requestIDHeader: {who.RequestID},
	}
	if len(sent) > 0 {
		r.Header["Content-Type"] = []string{"application/json"}
	}
	path, err := reqpath.Parse(r)
	if err != nil {
		return nil, fault.New(fault.Invalid, "%v", err)
	}
	if err := s.aaa.Allows(ctx, who, method, r.URL.Path); err != nil {
		return nil, err
	}
	path.Rewrite(r.URL)
	w := documentWriter{limit: limit}
	s.router.ServeHTTP(&w, r.WithContext(caller.With(reqpath.With(ctx, path), who)))
	if w.status >= http.StatusBadRequest {
		return nil, callFault(w.status, w.body.Bytes())
	}
	if w.full {
		return nil, fault.New(fault.TooBig, "the answer has more than %d bytes: ask for a part of it, or for a page with limit=", limit)
	}
	return w.body.Bytes(), nil
}

// callFault is the refusal of a request as the error of a command.
func callFault(status int, body []byte) error {
	kind, ok := map[int]fault.Kind{
		http.StatusUnauthorized:       fault.Denied,
		http.StatusForbidden:          fault.Denied,
		http.StatusNotFound:           fault.NotFound,
		http.StatusBadRequest:         fault.Invalid,
		http.StatusConflict:           fault.InUse,
		http.StatusServiceUnavailable: fault.Unavailable,
		http.StatusGatewayTimeout:     fault.Timeout,
	}[status]
	if !ok {
		kind = fault.Internal
	}
	var answer map[string]struct {
		Error []struct {
			Path    string `json:"error-path"`
			Message string `json:"error-message"`
		} `json:"error"`
	}
	var all fault.List
	if json.Unmarshal(body, &answer) == nil {
		for _, errors := range answer {
			for _, e := range errors.Error {
				all = append(all, fault.At(kind, e.Path, "%s", e.Message))
			}
		}
	}
	if len(all) == 0 {
		return fault.New(kind, "%d %s", status, http.StatusText(status))
	}
	return all.Err()
}
