package plugin

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"ctl.internal/internal/wire"
	"ctl.internal/internal/wire/link"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// BenchmarkRelayed is a call from one plugin to another, 32 at a time: the processor
// time of the caller and the host, which are this process, and of the provider.
func BenchmarkRelayed(b *testing.B) {
	for _, way := range ways {
		b.Run(way, func(b *testing.B) {
			r := newRig(b, nil)
			r.ensure(faulty())
			r.ensure(second())
			s, _ := r.findSupervisor("faulty")
			token := s.cur.Load().token
			c, err := grpc.NewClient("unix://"+s.services.Socket(), wire.DialOptions(grpc.WithTransportCredentials(insecure.NewCredentials()))...)
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			pairs := []string{"ctl-provider", "second", "ctl-token", token}
			var over grpc.ClientConnInterface = c
			if way == "link" {
				l, err := link.Open(metadata.AppendToOutgoingContext(r.ctx(), "ctl-token", token), c)
				if err != nil || !l.Linked() {
					b.Fatal(err)
				}
				defer l.Close()
				over, pairs = l, pairs[:2]
			}
			ctx := metadata.AppendToOutgoingContext(b.Context(), pairs...)
			info, err := r.Info("second")
			if err != nil {
				b.Fatal(err)
			}
			ask := func() {
				res, err := pluginv1.NewSwitchDriverClient(over).ReadPorts(ctx, &pluginv1.ReadPortsRequest{Switch: &pluginv1.Switch{NodeId: 8}})
				if err != nil || len(res.Ports) != 1 {
					b.Error(err)
				}
			}
			ask()
			before := processorTime(b, info.PID)
			var wg sync.WaitGroup
			work := make(chan struct{}, b.N)
			for range b.N {
				work <- struct{}{}
			}
			close(work)
			b.ResetTimer()
			for range 32 {
				wg.Go(func() {
					for range work {
						ask()
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(processorTime(b, info.PID)-before)/float64(b.N), "cpu-ns/op")
		})
	}
}

// processorTime is what this process and another have used so far.
func processorTime(b *testing.B, pid int) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	sum := u.Utime.Nano() + u.Stime.Nano()
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, t := range tasks {
		text, err := os.ReadFile(t)
		if err != nil {
			continue // the thread has ended
		}
		first, _, _ := strings.Cut(string(text), " ")
		n, err := strconv.ParseInt(first, 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		sum += n
	}
	return time.Duration(sum)
}
