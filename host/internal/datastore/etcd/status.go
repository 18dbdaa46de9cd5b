package etcd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"ctl.internal/host/internal/datastore"
)

// Members asks each endpoint for itself how it is.
func (s *Store) Members(ctx context.Context) []datastore.Member {
	out := make([]datastore.Member, len(s.members.all))
	var all sync.WaitGroup
	for i, m := range s.members.all {
		all.Go(func() { out[i] = s.memberStatus(ctx, m) })
	}
	all.Wait()
	return out
}

func (s *Store) memberStatus(ctx context.Context, m *member) datastore.Member {
	out := datastore.Member{
		Endpoint: m.endpoint,
		Watched:  s.members.preferred.Load() == m,
	}
	r, err := askOnce(ctx, s, m, func(ctx context.Context, c *clientv3.Client) (*pb.StatusResponse, error) {
		r, err := pb.NewMaintenanceClient(c.ActiveConnection()).Status(ctx, &pb.StatusRequest{})
		return r, rpctypes.Error(err)
	})
	if err != nil {
		out.Err = err
		return out
	}
	out.Version, out.Led, out.Leads = r.Version, r.Leader != 0, r.Leader != 0 && r.Leader == r.Header.MemberId
	out.Note = s.preVote(ctx, m, r.Version)
	return out
}

// preVote says what is wrong when a member may depose the leader each time it comes back.
func (s *Store) preVote(ctx context.Context, m *member, version string) string {
	line, err := s.commandLine(ctx, m)
	set, found := preVoteFlag(line)
	older := strings.HasPrefix(version, "3.4.") || strings.HasPrefix(version, "3.3.")
	switch {
	case found && set, !found && !older:
		return ""
	case found:
		return "it runs with --pre-vote=false: each time it comes back it may depose the leader, and all controllers wait for an election; start it without that flag"
	case err != nil:
		return fmt.Sprintf(
			"etcd %s has pre-vote off unless it is started with --pre-vote, and its command line cannot be read: %v",
			version,
			err,
		)
	}
	return "etcd " + version + " runs without --pre-vote: each time it comes back it may depose the leader, and all controllers wait for an election; start it with --pre-vote, or with version 3.5 or later"
}

// preVoteFlag finds the flag on a command line.
func preVoteFlag(line []string) (on, found bool) {
	for _, word := range line {
		name, value, has := strings.Cut(strings.TrimLeft(word, "-"), "=")
		if name == "pre-vote" && strings.HasPrefix(word, "-") {
			on, found = !has || value == "true" || value == "1" || value == "t", true
		}
	}
	return on, found
}

// maxVars bounds what a member says about itself.
const maxVars = 1 << 20

// commandLine is what a member publishes of it with expvar.
func (s *Store) commandLine(ctx context.Context, m *member) ([]string, error) {
	if !strings.HasPrefix(m.endpoint, "http") {
		return nil, fmt.Errorf("%s is no address of HTTP", m.endpoint)
	}
	ctx, cancel := context.WithTimeout(ctx, s.o.tryTimeout())
	defer cancel()
	r, err := http.NewRequestWithContext(
		ctx,
		http.MethodGet,
		strings.TrimSuffix(m.endpoint, "/")+"/debug/vars",
		nil,
	)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig:   s.o.TLS,
		DisableKeepAlives: true,
	}}
	a, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer a.Body.Close()
	var vars struct {
		Cmdline []string `json:"cmdline"`
	}
	if a.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("/debug/vars is answered %d", a.StatusCode)
	}
	err = json.NewDecoder(io.LimitReader(a.Body, maxVars)).Decode(&vars)
	return vars.Cmdline, err
}
