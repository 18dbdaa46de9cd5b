package main

import (
	"context"
	"embed"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"ctl.internal/sdk"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/operations"
)

//go:embed plugin.yaml
var manifest []byte

//go:embed yang/*.yang
var modules embed.FS

func main() {
	sdk.Serve(sdk.Options{
		Manifest: manifest,
		YANG:     modules,
		New:      newPlugin,
		Commands: listCommands(),
	})
}

type answer struct {
	PID       int    `json:"pid"`
	Count     int    `json:"count"`
	User      string `json:"user"`
	RequestID string `json:"request-id"`
}

func newPlugin(_ context.Context, env *sdk.Env) (*sdk.Plugin, error) {
	var settings struct {
		Calls string `json:"calls"`
	}
	if err := env.DecodeConfig(&settings); err != nil {
		return nil, err
	}
	var mu sync.Mutex
	count := 0
	tell := func(ctx context.Context, more int) answer {
		mu.Lock()
		defer mu.Unlock()
		count += more
		who, _ := caller.From(ctx)
		return answer{os.Getpid(), count, who.User, who.RequestID}
	}
	return &sdk.Plugin{
		Commands: listCommands(),
		Operations: operations.Mux{
			"lone:where": operations.Func(func(ctx context.Context, _ operations.None) (answer, error) {
				return tell(ctx, 0), nil
			}),
			"lone:add": operations.Func(func(ctx context.Context, in struct {
				ID           string `json:"id"`
				Milliseconds int    `json:"milliseconds"`
			}) (answer, error) {
				if settings.Calls != "" {
					f, err := os.OpenFile(
						settings.Calls,
						os.O_APPEND|os.O_CREATE|os.O_WRONLY,
						0o600,
					)
					if err != nil {
						return answer{}, err
					}
					defer f.Close()
					if _, err := fmt.Fprintln(f, in.ID); err != nil {
						return answer{}, err
					}
				}
				select {
				case <-time.After(time.Duration(in.Milliseconds) * time.Millisecond):
				case <-ctx.Done():
				}
				return tell(ctx, 1), nil
			}),
		},
		Routes: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
			fmt.Fprintf(w, "%s %s %d %d", r.Method, r.URL.Path, os.Getpid(), len(body))
		}),
	}, nil
}

func listCommands() []commands.Command {
	return []commands.Command{{
		Name:    "lone:say",
		Summary: "Says a word and which process it was",
		Safe:    true,
		Arguments: []commands.Argument{{
			Name:     "word",
			Help:     "What to say",
			Required: true,
		}},
		Run: func(_ context.Context, in *commands.Invocation) error {
			in.Printf("%s %d %s\n", in.Arg("word"), os.Getpid(), in.Caller.User)
			return nil
		},
	}}
}
