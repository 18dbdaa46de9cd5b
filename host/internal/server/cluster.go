package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"google.golang.org/grpc"

	"ctl.internal/host/internal/cluster"
	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/feature"
	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/lease"
	"ctl.internal/host/internal/plugin"
	"ctl.internal/host/internal/plugin/hostsvc"
	"ctl.internal/internal/wire"
)

// openCluster makes this node known and begins to keep its lease. Calls of other nodes are
// served once the plugins are there (serveCluster).
func (s *Server) openCluster(context.Context) error {
	log := s.registry.Logger("org.ctl.cluster")
	var err error
	if s.identity, err = cluster.OpenIdentity(s.home); err != nil {
		return err
	}
	version, _, _ := strings.Cut(Version(), " ")
	node := lease.Node{
		ID:          s.identity.ID,
		Home:        string(s.home),
		Version:     version,
		Contract:    wire.APIVersions[0],
		Fingerprint: s.identity.Fingerprint,
		Started:     s.began.UTC(),
		Inode:       s.inode,
	}
	if node.Host, err = os.Hostname(); err != nil {
		return err
	}
	c := s.loaded.Cluster
	if !c.Listen.IsOff() {
		if s.clusterListener, err = net.Listen("tcp", string(c.Listen)); err != nil {
			return fmt.Errorf(
				"the listener for other nodes cannot open %s: %w (set cluster.listen in etc/ctl.yaml, or --cluster)",
				c.Listen,
				err,
			)
		}
		node.Address = advertisedAddress(s.clusterListener.Addr().String(), c.Advertise)
		err := home.WriteFile(
			s.home.Run("cluster.addr"),
			[]byte(s.clusterListener.Addr().String()+"\n"),
			0o600,
		)
		if err != nil {
			return err
		}
	}
	leases, _ := s.raw.(datastore.Leases) // only an engine that several nodes share has them
	s.roles = lease.New(lease.Options{
		Store:  s.raw,
		Leases: leases,
		Node:   node,
		Log:    log,
	})
	if s.roles.Clustered() && node.Address == "" {
		log.Warn("cluster.listen is off: other nodes cannot call plugins that run on this node only")
	}
	return nil
}

// advertisedAddress is the address that other nodes use: that of the listener, or the host that
// the settings name, with their port or that of the listener.
func advertisedAddress(listening, setting string) string {
	if setting == "" {
		return listening
	}
	if _, _, err := net.SplitHostPort(setting); err == nil {
		return setting
	}
	_, port, _ := net.SplitHostPort(listening)
	return net.JoinHostPort(setting, port)
}

func (s *Server) serveCluster() {
	s.cluster = cluster.New(cluster.Options{
		Identity: s.identity,
		Store:    s.raw,
		Roles:    s.roles,
		Plugins:  s.plugins,
		Bus:      s.bus,
		Listener: s.clusterListener,
		Log:      s.registry.Logger("org.ctl.cluster"),
	})
}

// closeCluster ends what plugins do not need any more.
func (s *Server) closeCluster() {
	if s.cluster != nil {
		s.cluster.Close()
	} else if s.clusterListener != nil {
		s.clusterListener.Close()
	}
	if s.roles != nil {
		s.roles.Close()
	}
	_ = os.Remove(s.home.Run("cluster.addr"))
}

// forwardConn returns the connection to a plugin on another node.
func (s *Server) forwardConn(name, node string) grpc.ClientConnInterface {
	return s.cluster.Conn(name, node)
}

// roles are those of package lease for plugins.
type roles struct{ *lease.Manager }

func (r roles) Hold(ctx context.Context, role, holder string) (hostsvc.Term, error) {
	t, err := r.Manager.Hold(ctx, role, holder)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// reportRunning makes known to the cluster what really runs on this node.
func (s *Server) reportRunning() {
	r := cluster.Running{
		Features: []cluster.Part{},
		Plugins:  []cluster.Part{},
	}
	for _, f := range s.features.List() {
		if f.State != feature.Uninstalled {
			r.Features = append(
				r.Features,
				cluster.Part{
					Name:    f.Name,
					Version: f.Version,
					State:   f.State,
					Reason:  f.Note,
				},
			)
		}
	}
	for _, p := range s.plugins.List() {
		part := cluster.Part{
			Name:    p.Name,
			Version: p.Version,
			State:   p.State.String(),
		}
		if p.State != plugin.Ready && p.State != plugin.Standby {
			part.Reason = p.Reason
		}
		r.Plugins = append(r.Plugins, part)
	}
	text, err := json.Marshal(r)
	if err != nil {
		s.log.Error("what runs on this node is not reported", "error", err)
		return
	}
	s.roles.Report(text)
}

// joinToken makes the file for joining the cluster.
func (s *Server) joinToken(file string) (path string, warnings []string, err error) {
	path = filepath.Clean(s.home.Path(file))
	if err := cluster.MakeToken(s.home, s.loaded.Datastore, s.identity.ID, path); err != nil {
		return "", nil, err
	}
	if local := cluster.Loopback(s.loaded.Datastore.Etcd.Endpoints); len(local) > 0 {
		warnings = append(
			warnings,
			fmt.Sprintf(
				"the store's addresses %v are of this machine: a node elsewhere cannot reach them",
				local,
			),
		)
	}
	s.log.Warn(
		"a token for joining the cluster was made; it holds the key of all secrets",
		"file",
		path,
	)
	return path, warnings, nil
}
