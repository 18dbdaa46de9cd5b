// Command login-listener is the example of a listener of docs/access-control.md: it
// writes what the stream "accounting" reports, one JSON object in each line.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"log"
	"os"
	"path/filepath"
	"sync"
	"time"

	"ctl.internal/sdk"
	"ctl.internal/sdk/host"
)

//go:embed plugin.yaml
var manifest []byte

func main() { sdk.Serve(options()) }

func options() sdk.Options { return sdk.Options{Manifest: manifest, New: newListener} }

func newListener(ctx context.Context, env *sdk.Env) (*sdk.Plugin, error) {
	file, err := os.OpenFile(filepath.Join(env.DataDir, "heard.jsonl"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	var listening sync.WaitGroup
	listening.Go(func() { listen(ctx, env.Host.Events, file) })
	return &sdk.Plugin{Stop: func(context.Context) error {
		cancel()
		listening.Wait()
		return file.Close()
	}}, nil
}

// listen writes the events, and subscribes again after an interruption.
func listen(ctx context.Context, events *host.Events, file *os.File) {
	for ctx.Err() == nil {
		err := events.Subscribe(ctx, []string{"accounting"}, func(e host.Received) error {
			_, err := file.Write(append(bytes.TrimSpace(e.Data), '\n'))
			return err
		})
		if err != nil && !errors.Is(err, context.Canceled) && ctx.Err() == nil {
			log.Printf("listening again: %v", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}
