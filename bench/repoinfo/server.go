package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"ctl.internal/plugins/repoinfo/api"
	"ctl.internal/plugins/repoinfo/clones"
	"ctl.internal/plugins/repoinfo/counts"
	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/plugins/repoinfo/spool"
)

// serve is the plugin's HTTP side in a process of its own, with its default
// limits, so that its memory can be told from the client's.
func serve(ctx context.Context, dir, data string) error {
	log := slog.Default()
	folder, err := clones.NewFolder(dir, &gitcmd.Git{})
	if err != nil {
		return err
	}
	store := counts.NewStore(filepath.Join(data, "counts"), 16<<20, log)
	defer store.Close()
	answers := spool.New(filepath.Join(data, "answers"), 512<<20, log)
	defer answers.Close()
	a := &api.API{Folder: folder, Lister: &history.Lister{Counts: store, MessageLimit: 1 << 20}, Answers: answers, Log: log,
		Skip: true, MaxPage: 10_000, Timeout: time.Hour, Walks: 8}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(ln.Addr())
	srv := &http.Server{Handler: a.Handler(), ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = srv.Close() })()
	_ = srv.Serve(ln)
	return nil
}
