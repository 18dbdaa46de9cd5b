package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/plugin"
)

// readyWait bounds how long /readyz waits for the datastore.
const readyWait = time.Second

// notReady lists what keeps the controller from serving all it should.
func (s *Server) notReady(ctx context.Context) []reason {
	out := append(s.storeReasons(ctx), diskReasons(s.home)...)
	if s.roles.Clustered() && s.roles.Valid() == 0 {
		out = append(out, missing("lease", "this node has no lease, so it holds no role: the store does not answer, or this home is a copy of another",
			"the log says which; a copied home gets an identity of its own when its data/node.pem is removed"))
	}
	for _, p := range s.plugins.List() {
		if !p.State.Serving() && p.State != plugin.Standby {
			out = append(out, missing("plugin "+p.Name, p.State.String()+": "+p.Reason, pluginRemedy(p)))
		}
		if why := s.catalog.refused(p.Name); why != "" {
			out = append(out, missing("plugin "+p.Name, "its YANG modules are refused: "+why, "install a version of the plugin whose modules fit the others; ctl plugin:check "+p.Name+" shows the fault"))
		}
	}
	return out
}

// storeReasons asks whether the datastore knows its newest state.
func (s *Server) storeReasons(ctx context.Context) []reason {
	ctx, cancel := context.WithTimeout(ctx, readyWait)
	defer cancel()
	_, err := s.store.Barrier(ctx)
	etcd := s.loaded.Datastore.Shared()
	switch {
	case err == nil && !etcd:
		if _, err := os.Stat(s.home.Store()); errors.Is(err, fs.ErrNotExist) {
			return []reason{missing("store", "the store in "+s.home.Store()+" was removed while the controller runs", "stop the controller, put the store or a snapshot back, start it")}
		}
		return nil
	case err == nil:
		return nil
	case etcd:
		return []reason{missing("quorum", "no majority of the etcd cluster answers: "+err.Error(),
			"start the missing members of "+strings.Join(s.loaded.Datastore.Etcd.Endpoints, ", ")+" or mend the network to them; the controller goes on by itself")}
	}
	return []reason{missing("store", err.Error(), "look for the first error of org.ctl.datastore in "+s.home.Log("ctl.log"))}
}

func pluginRemedy(p plugin.Info) string {
	switch p.State {
	case plugin.Starting, plugin.Backoff, plugin.Stopping:
		return "wait; ctl plugin:info " + p.Name + " shows how it goes on"
	case plugin.Stopped:
		return "ctl plugin:start " + p.Name
	}
	return "remove the cause (ctl plugin:check " + p.Name + "), then ctl plugin:start " + p.Name
}

// roomNeeded is the free space below which a controller refuses writes.
const roomNeeded = 16 << 20

// diskReasons says that the disk of a home is full, if it is.
func diskReasons(dir home.Dir) []reason {
	free, err := freeOn(string(dir))
	if err != nil || free >= roomNeeded {
		return nil
	}
	return []reason{missing("disk", fmt.Sprintf("%d MiB are free on the disk of %s, %d MiB are needed, so writes are refused", free>>20, dir, roomNeeded>>20), diskRemedy(dir))}
}

// isFull reports whether an error comes from a disk, or a quota, without room.
func isFull(err error) bool {
	return errors.Is(err, datastore.ErrFull) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
