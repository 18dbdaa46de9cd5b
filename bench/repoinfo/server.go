package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"ctl.internal/plugins/repoinfo/api"
	"ctl.internal/plugins/repoinfo/clones"
	"ctl.internal/plugins/repoinfo/counts"
	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/plugins/repoinfo/jobs"
	"ctl.internal/plugins/repoinfo/people"
	"ctl.internal/plugins/repoinfo/release"
	"ctl.internal/plugins/repoinfo/report"
	"ctl.internal/plugins/repoinfo/turns"
)

// servePlugin is the plugin's HTTP side in a process of its own, with its default
// limits, so that its memory can be measured apart from the client's.
func servePlugin(ctx context.Context, dir, data string) error {
	log := slog.Default()
	folder, err := clones.NewFolder(dir, &gitcmd.Git{})
	if err != nil {
		return err
	}
	directory, err := people.New("", "")
	if err != nil {
		return err
	}
	store := jobs.Open(data, 512<<20, log)
	defer store.Close()
	lister := &history.Lister{
		Counts:       counts.NewTable(store),
		Jobs:         store,
		MessageLimit: 1 << 20,
	}
	reports := &report.Maker{
		Folder:  folder,
		Lister:  lister,
		People:  directory,
		Timeout: time.Hour,
	}
	a := &api.API{
		Folder:  folder,
		Lister:  lister,
		Jobs:    store,
		Log:     log,
		Skip:    true,
		MaxPage: 10_000,
		Timeout: time.Hour,
		Turns: &turns.Queue{
			Places:  4,
			Started: 4,
			Waiting: 64,
			Total:   256,
			Slice:   200 * time.Millisecond,
		},
		Reports:  reports,
		Releases: &release.Maker{Reports: reports},
		Secret:   []byte("bench"),
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(ln.Addr())
	srv := &http.Server{
		Handler:           a.Handler(),
		ReadHeaderTimeout: 10 * time.Second,
	}
	defer context.AfterFunc(ctx, func() { _ = srv.Close() })()
	_ = srv.Serve(ln)
	return nil
}
