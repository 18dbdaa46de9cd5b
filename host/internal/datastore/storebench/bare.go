package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	badgerdb "github.com/dgraph-io/badger/v4"
	clientv3 "go.etcd.io/etcd/client/v3"

	"ctl.internal/bench/rig"
	"ctl.internal/test/harness"
)

// bareBadger is Badger with synced writes and otherwise its own settings.
type bareBadger struct{ *badgerdb.DB }

func newBareBadger(dir string) (bareBadger, error) {
	db, err := badgerdb.Open(badgerdb.DefaultOptions(dir).WithSyncWrites(true).WithLogger(nil))
	return bareBadger{db}, err
}

func (b bareBadger) putKey(key string) error {
	return b.Update(func(t *badgerdb.Txn) error { return t.Set([]byte(key), value) })
}

type bareEtcd struct{ client *clientv3.Client }

func newBareEtcd(endpoint string) (bareEtcd, error) {
	c, err := clientv3.New(clientv3.Config{
		Endpoints:   []string{endpoint},
		DialTimeout: 5 * time.Second,
	})
	return bareEtcd{c}, err
}

func (b bareEtcd) putKey(key string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, err := b.client.Put(ctx, "bare/"+key, string(value))
	return err
}

// putInTxn puts under a condition, as every commit of ours does.
func (b bareEtcd) putInTxn(key string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, err := b.client.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision("bare/none"), "=", 0)).Then(clientv3.OpPut("bare/"+key, string(value))).Commit()
	return err
}

// startEtcd runs one member that syncs, until it is stopped.
func startEtcd(dir string) (endpoint string, stop func(), err error) {
	program, err := exec.LookPath("etcd")
	if err != nil {
		return "", nil, err
	}
	var at [2]string
	for i := range at {
		address, err := rig.FreeAddress()
		if err != nil {
			return "", nil, err
		}
		at[i] = "http://" + address
	}
	server, err := harness.Serve(strings.TrimPrefix(at[0], "http://"), exec.Command(program, "--data-dir", dir, "--name", "bench",
		"--listen-client-urls", at[0], "--advertise-client-urls", at[0],
		"--listen-peer-urls", at[1], "--initial-advertise-peer-urls", at[1], "--initial-cluster", "bench="+at[1],
		"--max-txn-ops", "20000", "--max-request-bytes", "16777216", "--quota-backend-bytes", "8589934592",
		"--logger", "zap", "--log-outputs", filepath.Join(filepath.Dir(dir), "etcd.log")))
	if err != nil {
		return "", nil, err
	}
	return at[0], server.Stop, nil
}
