// Command storebench compares the datastore engines with the bare libraries they stand on,
// and a store with one that has seen many writes of the same keys. It is a part of
// `go run ./bench`; Go's rule for internal packages is why it is here.
package main

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"ctl.internal/bench/load"
	"ctl.internal/bench/rig"
	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/badger"
	"ctl.internal/host/internal/datastore/etcd"
)

func main() { rig.Main(parseFlags().runBenchmarks) }

type options struct {
	duration        time.Duration
	rounds, earlier int
	dir, only       string
}

func parseFlags() (o options) {
	flag.DurationVar(&o.duration, "d", 4*time.Second, "length of one measurement")
	flag.IntVar(&o.rounds, "rounds", 5, "measurements of each side, in turn; the median counts")
	flag.IntVar(
		&o.earlier,
		"earlier",
		100_000,
		"earlier writes of the same keys that a store has seen",
	)
	flag.StringVar(&o.dir, "dir", os.TempDir(), "directory on the disk that is measured")
	flag.StringVar(&o.only, "only", "", "badger or etcd; empty = both")
	flag.Parse()
	return o
}

func (o options) runBenchmarks(ctx context.Context) (err error) {
	if o.dir, err = os.MkdirTemp(o.dir, "storebench"); err != nil {
		return err
	}
	defer os.RemoveAll(o.dir)
	fmt.Printf(
		"%d CPUs, values of %d bytes, %d keys, median of %d rounds of %s, the sides in turn\n",
		runtime.NumCPU(),
		len(value),
		keys,
		o.rounds,
		o.duration,
	)
	if o.only != "etcd" {
		if err := o.runBadger(ctx); err != nil {
			return fmt.Errorf("badger: %w", err)
		}
	}
	if o.only != "badger" {
		if err := o.runEtcd(ctx); err != nil {
			return fmt.Errorf("etcd: %w", err)
		}
	}
	return nil
}

func (o options) runBadger(ctx context.Context) error {
	open := func(name string) (datastore.Store, string, error) {
		dir := filepath.Join(o.dir, name)
		s, err := badger.Open(badger.Options{Dir: dir})
		return s, dir, err
	}
	ours, _, err := open("ours")
	if err != nil {
		return err
	}
	bare, err := newBareBadger(filepath.Join(o.dir, "bare"))
	if err != nil {
		return err
	}
	if err := o.compareWrites(ctx, "badger", ours, "bare library", bare.putKey); err != nil {
		return err
	}
	if err := o.fanOut(
		ctx,
		"badger, 100 watches",
		ours,
		slices.Repeat([]datastore.Store{ours}, 100),
	); err != nil {
		return err
	}
	if err := bare.Close(); err != nil {
		return err
	}
	if err := ours.Close(); err != nil {
		return err
	}
	fresh, _, err := open("fresh")
	if err != nil {
		return err
	}
	defer fresh.Close()
	aged, dir, err := open("aged")
	if err != nil {
		return err
	}
	if err := o.compareAges(ctx, "badger", fresh, aged); err != nil {
		return err
	}
	fmt.Printf("  on the disk %d MiB\n", diskUsage(dir)>>20)
	if err := aged.Close(); err != nil {
		return err
	}
	fmt.Printf("  on the disk after it was closed %d MiB\n", diskUsage(dir)>>20)
	begun := time.Now()
	if aged, _, err = open("aged"); err != nil {
		return err
	}
	fmt.Printf(
		"  opened again in %s, with %d keys\n",
		time.Since(begun).Round(time.Millisecond),
		keys,
	)
	return aged.Close()
}

func (o options) runEtcd(ctx context.Context) error {
	endpoint, stop, err := startEtcd(filepath.Join(o.dir, "etcd"))
	if err != nil {
		fmt.Println("LEFT OUT, NOT MEASURED: etcd:", err)
		return nil
	}
	defer stop()
	var stores []datastore.Store
	defer func() {
		for _, s := range stores {
			s.Close()
		}
	}()
	open := func(endpoint string) (datastore.Store, error) {
		s, err := etcd.Open(ctx, etcd.Options{
			Endpoints: []string{endpoint},
			Prefix:    "ctl/",
		})
		if err == nil {
			stores = append(stores, s)
		}
		return s, err
	}
	if _, err := open(endpoint); err != nil {
		return err
	}
	bare, err := newBareEtcd(endpoint)
	if err != nil {
		return err
	}
	defer bare.client.Close()
	for what, f := range map[string]func(string) error{
		"bare put":                     bare.putKey,
		"bare conditional transaction": bare.putInTxn,
	} {
		if err := o.compareWrites(ctx, "etcd, one member", stores[0], what, f); err != nil {
			return err
		}
	}
	for range 2 {
		if _, err := open(endpoint); err != nil {
			return err
		}
	}
	if err := o.fanOut(ctx, "etcd, to 3 nodes", stores[0], stores); err != nil {
		return err
	}
	for _, s := range stores[1:] { // else they would read all that is written to the aged one
		s.Close()
	}
	stores = stores[:1]
	other, stopOther, err := startEtcd(filepath.Join(o.dir, "fresh"))
	if err != nil {
		return err
	}
	defer stopOther()
	fresh, err := open(other)
	if err != nil {
		return err
	}
	aged := stores[0]
	if err := o.compareAges(ctx, "etcd, one member", fresh, aged); err != nil {
		return err
	}
	fmt.Printf("  on the disk %d MiB\n", diskUsage(filepath.Join(o.dir, "etcd"))>>20)
	return nil
}

// diskUsage is what a directory takes on the disk.
func diskUsage(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil {
			if info, err := d.Info(); err == nil {
				if st, ok := info.Sys().(*syscall.Stat_t); ok {
					bytes += st.Blocks * 512
				}
			}
		}
		return nil
	})
	return bytes
}

const keys = 1000

var value = []byte(strings.Repeat("v", 200))

func benchKey(i int64) string {
	return fmt.Sprintf("/bench:tree/entry=%04d", i%keys)
}

// compareSides measures two sides in turn, each with n goroutines that call f again and again.
func (o options) compareSides(
	ctx context.Context,
	n int,
	ours, peer func(i int64) error,
) (a, b float64, err error) {
	side := func(name string, f func(i int64) error) *rig.Side {
		var i atomic.Int64
		return &rig.Side{
			Name: name,
			Run: func(ctx context.Context, d time.Duration) (load.Result, error) {
				return load.Do(ctx, n, d, func(ctx context.Context, _ int, done load.Done) error {
					for ctx.Err() == nil {
						began := time.Now()
						if err := f(i.Add(1)); err != nil {
							return err
						}
						done(time.Since(began), true)
					}
					return nil
				})
			},
		}
	}
	mine, other := side("ours", ours), side("peer", peer)
	if err := (rig.Comparison{
		Rounds:   o.rounds,
		Duration: o.duration,
	}).Run(ctx, mine, other); err != nil {
		return 0, 0, err
	}
	m, _ := mine.Median()
	p, _ := other.Median()
	return m.Rate(), p.Rate(), nil
}
