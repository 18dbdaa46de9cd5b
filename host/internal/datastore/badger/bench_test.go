package badger

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"ctl.internal/host/internal/datastore"
)

// BenchmarkCommit measures acknowledged writes of 200 bytes.
func BenchmarkCommit(b *testing.B) {
	for _, c := range []struct {
		name        string
		volatile    bool
		parallelism int
	}{{"durable/1", false, 0}, {"durable/32", false, 16}, {"volatile/1", true, 0}} {
		b.Run(c.name, func(b *testing.B) {
			s, err := Open(Options{Dir: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			var n atomic.Int64
			value := make([]byte, 200)
			write := func() {
				op := datastore.Put("n", fmt.Sprint(n.Add(1)), value)
				if _, err := s.Commit(context.Background(), datastore.Txn{Volatile: c.volatile, Ops: []datastore.Op{op}}); err != nil {
					b.Error(err)
				}
			}
			b.ResetTimer()
			if c.parallelism == 0 {
				for range b.N {
					write()
				}
				return
			}
			b.SetParallelism(c.parallelism)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					write()
				}
			})
		})
	}
}
